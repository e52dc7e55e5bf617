import { Array, Effect, Either, Option, Redacted } from "effect"
import { Disclosed, type PlatformFailure, type PlatformRecord } from "../../schema/applications.ts"
import { declaredFields } from "../../schema/declaredFields.ts"
import {
  ApplicationUnknown,
  type GitHook,
  type GitHostFailure,
  type WebhookFinding,
  type WebhookOutcome,
  type WebhookRequest,
  type WebhookSetup,
  type WebhookState,
  type WebhookStatus,
  type WebhookTeardown,
  type WebhookTest,
  type WebhookTestRequest
} from "../../schema/webhooks.ts"
import { GitHost } from "../../services/githost.ts"
import type { Locks } from "../../services/locks/Locks.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { scrubSecrets, Settings, type SettingsError } from "../../services/settings/Settings.ts"
import { withAnswerBudget } from "../../services/upstream/Upstream.ts"
import { ensureHook, isHookActive, parseRepositoryName, removeHooks, resolveRepository, withUrl } from "./hooks.ts"
import { checkHook } from "./hooks.ts"

const setUp = "Set up the application's webhook"

/** True if a record shows a secret other than the configured one; a hidden secret does not count as different. */
const isAnother = ({ manual_webhook_secret_githost: shown }: PlatformRecord, configured: Redacted.Redacted) =>
  shown !== undefined && shown !== null && shown !== "" && shown !== Redacted.value(configured)

const secretFindings = (
  app: PlatformRecord,
  secretSet: Option.Option<Disclosed<boolean>>,
  configured: Option.Option<Redacted.Redacted>
): ReadonlyArray<WebhookFinding> => {
  if (Option.isNone(configured)) {
    const finding = "No webhook secret is configured, so that pushes cannot be signed"
    return [{ finding, fix: "Set gitHost.webhookSecret, and set up the webhooks again" }]
  }
  if (isAnother(app, configured.value)) {
    return [{
      finding: "The platform's webhook secret for the application is not the configured one",
      fix: setUp
    }]
  }
  if (Option.isNone(secretSet)) {
    return [{ finding: "The application's webhook secret cannot be read", fix: "A deep health check says why" }]
  }
  return Disclosed.$match(secretSet.value, {
    Known: ({ value }) =>
      value
        ? []
        : [{
          finding: "The platform has no webhook secret for the application, or not the configured one",
          fix: setUp
        }],
    Hidden: ({ reason }) => [{ finding: "The platform hides the application's webhook secret", fix: reason }],
    Absent: () => [{ finding: "The platform has no webhook secret for the application", fix: setUp }]
  })
}

const isLoopback = (host: string) => host === "localhost" || host === "[::1]" || host.startsWith("127.")

const isPrivate = (host: string) => /^(10|192\.168|172\.(1[6-9]|2\d|3[01]))\./.test(host) || /^\[f[cd]/.test(host)

const addressFindings = (url: string): ReadonlyArray<WebhookFinding> => {
  const host = URL.canParse(url) ? new URL(url).hostname : ""
  if (isLoopback(host)) {
    const finding = `${url} leads to the git host's own machine, which is right only if the platform runs there too`
    return [{ finding, fix: "Set platform.webhookUrl to an address that the git host reaches the platform at" }]
  }
  const fix = "Allow it there (Gitea and Forgejo: ALLOWED_HOST_LIST in the section webhook), " +
    "or set platform.webhookUrl to another address"
  return isPrivate(host)
    ? [{ finding: `${url} is a private address: a git host may refuse to deliver there`, fix }]
    : []
}

const gitHostFindings = (app: PlatformRecord, name: string) =>
  Effect.gen(function*() {
    const repository = yield* resolveRepository(name)
    const url = yield* (yield* Platform).webhookUrlOf(app.uuid)
    const hooks = withUrl(yield* (yield* GitHost).hooks(repository), url)
    const branch = app.git_branch ?? declaredFields.branch.fallback
    // If several hooks have this address, one working hook is enough.
    const [best] = hooks.map((hook) => ({ hook, findings: checkHook(hook, branch) }))
      .toSorted((a, b) => a.findings.length - b.findings.length)
    const missing = { finding: `No hook of ${repository.owner}/${name} leads to ${url}`, fix: setUp }
    return {
      findings: [...(best === undefined ? [missing] : best.findings), ...addressFindings(url)],
      untold: best === undefined ? [] : untoldOf(best.hook)
    }
  })

/** Facts about a hook that the git host does not expose. */
const untoldOf = ({ branchFilter, events, id }: GitHook): ReadonlyArray<string> => [
  `Whether the secret of hook ${id} is the configured one: a git host never shows it`,
  `Whether the last delivery of hook ${id} failed: the git host's page of the hook shows that, and its API does not`,
  ...(events === undefined ? [`Which events hook ${id} is for: the git host does not say`] : []),
  ...(branchFilter === undefined ? [`Which branches hook ${id} is for: the git host does not say`] : [])
]

/** Reasons why pushes do not reach an application, and facts that remain unknown. */
interface WebhookReport {
  readonly findings: ReadonlyArray<WebhookFinding>
  readonly untold: ReadonlyArray<string>
}

/**
 * Reasons why pushes do not deploy an application, as far as the platform and the git host report them, including
 * failures.
 * @param secretSet true if the platform has the configured secret; undefined if it could not be read
 */
const checkWebhooks = Effect.fn("checkWebhooks")(function*(
  app: PlatformRecord,
  secretSet: Option.Option<Disclosed<boolean>>
): Effect.fn.Return<WebhookReport, never, GitHost | Platform | Settings> {
  const name = parseRepositoryName(app)
  if (Option.isNone(name)) {
    const none = { finding: "The application has no git repository", fix: "Give it one on the platform" }
    return { findings: [none], untold: [] }
  }
  const settings = yield* Settings
  const configured = Option.filter(
    yield* Effect.orElseSucceed(settings.find("gitHost.webhookSecret"), () => Option.none<Redacted.Redacted>()),
    (secret) => Redacted.value(secret) !== ""
  )
  // The list may omit the secret that the full record has.
  const isKept = app.manual_webhook_secret_githost === undefined &&
    Option.exists(secretSet, (set) => Disclosed.$is("Known")(set) && set.value)
  const platform = yield* Platform
  const record = isKept ? yield* Effect.orElseSucceed(platform.application(app.uuid), () => app) : app
  const ofSecret = secretFindings(record, secretSet, configured)
  const onGitHost = yield* Effect.either(gitHostFindings(app, name.value))
  if (Either.isRight(onGitHost)) {
    const { findings, untold } = onGitHost.right
    return { findings: [...ofSecret, ...findings], untold }
  }
  const unread = {
    finding: yield* scrubSecrets(`The hooks of ${name.value} cannot be read: ${onGitHost.left.message}`),
    fix: "A deep health check says what the git host lacks"
  }
  return { findings: [...ofSecret, unread], untold: [] }
})

const repositoriesAtOnce = 8

type Failure = PlatformFailure | SettingsError

type Services = Platform | GitHost | Settings | Locks

/** Describes the result of an effect; a failure becomes its message. */
const describeOutcome = <E extends { readonly message: string }, R>(effect: Effect.Effect<string, E, R>) =>
  Effect.catchAll(effect, ({ message }) => scrubSecrets(`error: ${message}`))

/** Applications that a request concerns. */
const listWebhookTargets = ({ appName }: WebhookRequest) =>
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

/**
 * Makes the git host send a test delivery for an application. The git host delivers it asynchronously and shows the
 * platform's response only on its own page of the hook.
 */
export const testWebhook = Effect.fn("testWebhook")(function*(
  { appName }: WebhookTestRequest
): Effect.fn.Return<
  WebhookTest,
  PlatformFailure | GitHostFailure | SettingsError | ApplicationUnknown,
  GitHost | Platform | Settings
> {
  const gitHost = yield* GitHost
  const [app] = yield* listWebhookTargets({ appName })
  if (app === undefined) return yield* Effect.dieMessage("targets answers at least one application of a name")
  const repo = parseRepositoryName(app)
  const about = { app: app.name, uuid: app.uuid, repo: Option.getOrNull(repo) }
  const unsent = (detail: string) => ({ ...about, hook: null, sent: false, detail })
  if (Option.isNone(repo)) return unsent("The application has no git repository, and so no hook")

  const repository = yield* resolveRepository(repo.value)
  const url = yield* (yield* Platform).webhookUrlOf(app.uuid)
  const hooks = withUrl(yield* gitHost.hooks(repository), url)
  const hook = hooks.find(({ active }) => active) ?? hooks[0]
  if (hook === undefined) {
    return unsent(
      `No hook of ${repository.owner}/${repository.name} leads to ${url}. Set up the application's webhook first`
    )
  }
  return yield* gitHost.testHook(repository, hook).pipe(
    Effect.as({
      ...about,
      hook: hook.id,
      sent: true,
      detail: `The git host accepted a test delivery to ${url}. Its API does not say what the platform answers: ` +
        `its page of hook ${hook.id} shows that`
    }),
    Effect.catchAll(({ message }) =>
      Effect.map(scrubSecrets(`The git host sent no test delivery: ${message}`), (detail) => ({
        ...about,
        hook: hook.id,
        sent: false,
        detail
      }))
    )
  )
})
