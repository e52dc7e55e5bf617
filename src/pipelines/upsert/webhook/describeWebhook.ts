import { Effect, Either, Option, Redacted } from "effect"
import type { PlatformRecord } from "../../../schema/applications/PlatformApp.ts"
import type { GitHost } from "../../../services/githost/GitHost.ts"
import type { Platform } from "../../../services/platform/Platform.ts"
import type { Settings } from "../../../services/settings/Settings.ts"
import type { AppPlan } from "../../applications/appPlan.ts"
import { decideWill, makePart, type Part, unreadable } from "../steps/Part.ts"
import { decideHook, decideSecret } from "./decideWebhook.ts"
import { noWebhookSecret, webhookSecret } from "./webhookSecret.ts"

/** Plan of the step `webhook`, with a description of the hook's action; none if the hook is not changed. */
export interface DescribedWebhook {
  readonly part: Part
  readonly words: Option.Option<string>
}

/** Plans the step `webhook`, which never stops an upsert. */
export const describeWebhook = Effect.fn("describeWebhook")(function*(
  plan: AppPlan,
  app: Option.Option<PlatformRecord>
): Effect.fn.Return<DescribedWebhook, never, GitHost | Platform | Settings> {
  const configured = yield* Effect.either(webhookSecret)
  const alone = (planned: Part): DescribedWebhook => ({ part: planned, words: Option.none() })
  const warned = (message: string) => `the webhook could not be set up: ${message}`
  if (Either.isLeft(configured)) {
    const { message } = configured.left
    const unread = [{ field: "url", label: "Webhook", reason: message }]
    return alone(
      makePart({ step: "webhook", will: "nothing", detail: warned(message), warnings: [warned(message)], unread })
    )
  }
  if (Option.isNone(configured.right)) {
    return alone(makePart({ step: "webhook", will: "skip", detail: noWebhookSecret }))
  }
  const secret = configured.right.value
  const facts = { secret: { value: Redacted.value(secret) } }
  const platformSide = yield* decideSecret(app, secret)
  const gitHostSide = yield* Effect.either(decideHook(plan, app))
  if (Either.isLeft(gitHostSide)) {
    const { message } = gitHostSide.left
    const repository = `${plan.repository.owner}/${plan.repository.name}`
    return alone(makePart({
      step: "webhook",
      will: decideWill(platformSide.changes),
      detail: warned(message),
      changes: platformSide.changes,
      writes: platformSide.writes,
      unknown: [...platformSide.unknown, `the webhooks of ${repository}: ${message}`],
      unread: [
        ...platformSide.unread ?? [],
        { field: "url", label: "Webhook", reason: `the webhooks of ${repository}: ${message}` }
      ],
      warnings: [warned(message)],
      facts: { ...facts, platformSecret: platformSide.fact, hooks: unreadable }
    }))
  }
  const changes = [...platformSide.changes, ...gitHostSide.right.changes]
  const planned = makePart({
    step: "webhook",
    will: decideWill(changes),
    detail: changes.length === 0
      ? "the webhook is there already; its secret is written again"
      : `sets up: ${changes.map(({ label }) => label).join(", ")}`,
    changes,
    writes: [...platformSide.writes, ...gitHostSide.right.writes],
    stays: gitHostSide.right.stays ?? [],
    unknown: [...platformSide.unknown, ...gitHostSide.right.unknown],
    unread: platformSide.unread ?? [],
    warnings: gitHostSide.right.warnings ?? [],
    facts: { ...facts, platformSecret: platformSide.fact, hooks: gitHostSide.right.fact }
  })
  return { part: planned, words: Option.some(gitHostSide.right.words) }
})
