import { Effect, Option } from "effect"
import type { PlatformFailure } from "../../schema/applications/PlatformApp.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { GitHostFailure } from "../../schema/webhooks/GitHook.ts"
import type { ApplicationUnknown, WebhookTest, WebhookTestRequest } from "../../schema/webhooks/Webhook.ts"
import { GitHost } from "../../services/githost/GitHost.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import { withUrl } from "./pushHook.ts"
import { parseRepositoryName } from "./repositoryName.ts"
import { resolveRepository } from "./resolveRepository.ts"
import { listWebhookTargets } from "./webhooks.ts"

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
