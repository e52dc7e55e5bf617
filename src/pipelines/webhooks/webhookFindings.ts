import { Effect, Either, Option, Redacted } from "effect"
import { declaredFields } from "../../schema/applications/declaredFields.ts"
import type { PlatformRecord } from "../../schema/applications/PlatformApp.ts"
import { Disclosed } from "../../schema/basics/Disclosed.ts"
import type { GitHook } from "../../schema/webhooks/GitHook.ts"
import type { WebhookFinding } from "../../schema/webhooks/Webhook.ts"
import { GitHost } from "../../services/githost/GitHost.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { matchesBranchFilter } from "./matchesBranchFilter.ts"
import { withUrl } from "./pushHook.ts"
import { parseRepositoryName } from "./repositoryName.ts"
import { resolveRepository } from "./resolveRepository.ts"

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

/** Reasons why a hook does not deliver pushes to a branch. */
export const checkHook = ({ active, branchFilter = "", events, id }: GitHook, branch: string) => {
  const findings: ReadonlyArray<WebhookFinding | false> = [
    !active &&
    { finding: `Hook ${id} is inactive`, fix: "Set up the application's webhook: that makes the hook active" },
    events !== undefined && !events.includes("push") && {
      finding: `Hook ${id} is not for pushes: ${events.length === 0 ? "it has no events" : events.join(", ")}`,
      fix: "Choose push events for it on the git host"
    },
    !matchesBranchFilter(branchFilter, branch) && {
      finding: `Hook ${id} is for branches like ${branchFilter} only, and the application is built from ${branch}`,
      fix: "Change the branch filter of the hook on the git host"
    }
  ]
  return findings.filter((one) => one !== false)
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
export interface WebhookReport {
  readonly findings: ReadonlyArray<WebhookFinding>
  readonly untold: ReadonlyArray<string>
}

/**
 * Reasons why pushes do not deploy an application, as far as the platform and the git host report them, including
 * failures.
 * @param secretSet true if the platform has the configured secret; undefined if it could not be read
 */
export const checkWebhooks = Effect.fn("checkWebhooks")(function*(
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
