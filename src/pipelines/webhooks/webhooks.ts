import { Array, Effect, Option, Redacted } from "effect"
import type { PlatformFailure, PlatformRecord } from "../../schema/applications/PlatformApp.ts"
import { Disclosed } from "../../schema/basics/Disclosed.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import {
  ApplicationUnknown,
  type WebhookOutcome,
  type WebhookRequest,
  type WebhookSetup,
  type WebhookState,
  type WebhookStatus,
  type WebhookTeardown
} from "../../schema/webhooks/Webhook.ts"
import type { GitHost } from "../../services/githost/GitHost.ts"
import type { Locks } from "../../services/locks/Locks.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { withAnswerBudget } from "../../services/upstream/answerBudget.ts"
import { ensureHook, isHookActive, removeHooks } from "./pushHook.ts"
import { parseRepositoryName } from "./repositoryName.ts"
import { resolveRepository } from "./resolveRepository.ts"
import { checkWebhooks } from "./webhookFindings.ts"

const repositoriesAtOnce = 8

type Failure = PlatformFailure | SettingsError
type Services = Platform | GitHost | Settings | Locks

/** Describes the result of an effect; a failure becomes its message. */
const describeOutcome = <E extends { readonly message: string }, R>(effect: Effect.Effect<string, E, R>) =>
  Effect.catchAll(effect, ({ message }) => scrubSecrets(`error: ${message}`))

/** Applications that a request concerns. */
export const listWebhookTargets = ({ appName }: WebhookRequest) =>
  Effect.gen(function*() {
    const apps = yield* (yield* Platform).applications
    if (appName === undefined || appName === null) return apps
    const named = apps.filter(({ name }) => name === appName)
    return named.length === 0
      ? yield* new ApplicationUnknown({ appName, names: apps.map(({ name }) => name) })
      : named
  })

/**
 * Runs an effect for each application: several repositories concurrently, but the applications of one repository
 * sequentially, because they share its hooks. Results are in the order of the applications.
 */
const forEachApp = <A, E, R>(
  apps: ReadonlyArray<PlatformRecord>,
  program: (app: PlatformRecord) => Effect.Effect<A, E, R>
) => {
  const groups = Object.values(
    Array.groupBy(
      Array.map(apps, (app, index) => ({ app, index })),
      ({ app, index }) =>
        Option.match(parseRepositoryName(app), { onNone: () => `app ${index}`, onSome: (name) => `repository ${name}` })
    )
  )
  const groupProgram = Effect.forEach(({ app, index }: { readonly app: PlatformRecord; readonly index: number }) =>
    Effect.map(program(app), (result) => ({ index, result }))
  )
  return Effect.map(
    Effect.forEach(groups, groupProgram, { concurrency: repositoriesAtOnce }),
    (results) => results.flat().sort((a, b) => a.index - b.index).map(({ result }) => result)
  )
}

/** Makes pushes deploy applications: sets their secret on the platform, and creates or updates their repository's hook. */
export const setUpWebhooks = Effect.fn("setUpWebhooks")(function*(
  request: WebhookRequest
): Effect.fn.Return<WebhookSetup, Failure | ApplicationUnknown, Services> {
  const platform = yield* Platform
  const secret = yield* (yield* Settings).get("gitHost.webhookSecret")
  const webhookUrl = yield* platform.webhookUrl
  const results = yield* forEachApp(yield* listWebhookTargets(request), (app) =>
    Effect.gen(function*() {
      const onPlatform = yield* describeOutcome(Effect.as(platform.setWebhookSecret(app.uuid, secret), "secret_set"))
      const onGitHost = yield* Option.match(parseRepositoryName(app), {
        onNone: () => Effect.succeed("skipped: no git repo configured"),
        onSome: (name) =>
          describeOutcome(
            Effect.flatMap(
              Effect.all([resolveRepository(name), platform.webhookUrlOf(app.uuid)]),
              ([repository, url]) => ensureHook(repository, url, secret)
            )
          )
      })
      return { app: app.name, uuid: app.uuid, platform: onPlatform, githost: onGitHost } satisfies WebhookOutcome
    }))
  return { webhookUrl, appsConfigured: results.length, results }
}, withAnswerBudget)

/** Reverts the setup: clears the secret of applications, and deletes the hooks with the platform's address. */
export const tearDownWebhooks = Effect.fn("tearDownWebhooks")(function*(
  request: WebhookRequest
): Effect.fn.Return<WebhookTeardown, Failure | ApplicationUnknown, Services> {
  const platform = yield* Platform
  const results = yield* forEachApp(yield* listWebhookTargets(request), (app) =>
    Effect.gen(function*() {
      const onPlatform = yield* describeOutcome(
        Effect.as(platform.setWebhookSecret(app.uuid, Redacted.make("")), "secret_cleared")
      )
      const onGitHost = yield* Option.match(parseRepositoryName(app), {
        onNone: () => Effect.succeed("skipped"),
        onSome: (name) =>
          describeOutcome(
            Effect.all([resolveRepository(name), platform.webhookUrlOf(app.uuid)]).pipe(
              Effect.flatMap(([repository, url]) => removeHooks(repository, url)),
              Effect.map((removed) => (removed === 0 ? "none found" : `removed ${removed} hook(s)`))
            )
          )
      })
      return { app: app.name, uuid: app.uuid, platform: onPlatform, githost: onGitHost } satisfies WebhookOutcome
    }))
  return { appsConfigured: results.length, results }
}, withAnswerBudget)

/**
 * Lists the applications that pushes reach. Unreadable ones count as not set up.
 * @param deep adds reasons and remedies
 */
export const webhookStatus = Effect.fn("webhookStatus")(
  function*(deep = false): Effect.fn.Return<WebhookStatus, Failure, Services> {
    const platform = yield* Platform
    const webhookUrl = yield* platform.webhookUrl
    const results = yield* Effect.forEach(yield* platform.applications, (app) =>
      Effect.gen(function*() {
        const repo = parseRepositoryName(app)
        const secretSet = yield* Effect.option(platform.webhookSecretSet(app.uuid))
        const active = yield* Option.match(repo, {
          onNone: () => Effect.succeed(false),
          onSome: (name) =>
            Effect.all([resolveRepository(name), platform.webhookUrlOf(app.uuid)]).pipe(
              Effect.flatMap(([repository, url]) => isHookActive(repository, url)),
              Effect.orElseSucceed(() => false)
            )
        })
        const report = deep ? yield* checkWebhooks(app, secretSet) : {}
        const hidden = Option.filter(secretSet, Disclosed.$is("Hidden"))
        return {
          app: app.name,
          uuid: app.uuid,
          platformSecretSet: Option.exists(secretSet, (set) => Disclosed.$is("Known")(set) && set.value),
          githostWebhookActive: active,
          repo: Option.getOrNull(repo),
          ...(Option.isSome(hidden) ? { unknown: `platformSecretSet: ${hidden.value.reason}` } : {}),
          ...report
        } satisfies WebhookState
      }), { concurrency: repositoriesAtOnce })
    return { webhookUrl, results }
  },
  withAnswerBudget
)
