import { Effect, Either, Option, Redacted } from "effect"
import type { DriftUnknown } from "../../../schema/applications/Drift.ts"
import type { PlatformRecord } from "../../../schema/applications/PlatformApp.ts"
import type { PlanChange, StayingDifference } from "../../../schema/applications/PlatformPlan.ts"
import { Disclosed } from "../../../schema/basics/Disclosed.ts"
import { GitHost } from "../../../services/githost/GitHost.ts"
import { Platform } from "../../../services/platform/Platform.ts"
import type { Settings } from "../../../services/settings/Settings.ts"
import type { AppPlan } from "../../applications/appPlan.ts"
import type { Fact } from "../../plans/Fact.ts"
import { decideHookAction, HookAction } from "../../webhooks/pushHook.ts"
import { checkHook } from "../../webhooks/webhookFindings.ts"
import { decideWill, makePart, type Part, unreadable } from "../steps/Part.ts"
import { describeHookAction, noWebhookSecret, webhookSecret } from "./webhookSecret.ts"

const secretField = "manual_webhook_secret_githost"
const secretLabel = "Webhook secret"
const masked = "***"

/** Plan of the step `webhook`, with a description of the hook's action; none if the hook is not changed. */
export interface DescribedWebhook {
  readonly part: Part
  readonly words: Option.Option<string>
}

interface Side {
  readonly stays?: ReadonlyArray<StayingDifference>
  readonly unread?: ReadonlyArray<DriftUnknown>
  readonly changes: ReadonlyArray<PlanChange>
  readonly unknown: ReadonlyArray<string>
  readonly writes: ReadonlyArray<string>
  readonly warnings?: ReadonlyArray<string>
  readonly fact: Fact
}

const secretChange = (old: unknown): ReadonlyArray<PlanChange> => [
  { target: "application", field: secretField, label: secretLabel, old, new: masked }
]

/** Compares the application's secret with the configured one; a secret that the token cannot read is unknown. */
const onPlatform = (
  app: Option.Option<PlatformRecord>,
  secret: Redacted.Redacted
): Effect.Effect<Side, never, Platform> =>
  Effect.gen(function*() {
    const platform = yield* Platform
    const writes = ["setWebhookSecret"]
    if (Option.isNone(app)) return { changes: secretChange(null), unknown: [], writes, fact: { value: null } }
    const { uuid } = app.value
    const listed = app.value.manual_webhook_secret_githost
    // The list may omit the secret that the full record has.
    const now = listed === undefined
      ? (yield* Effect.orElseSucceed(platform.application(uuid), () => app.value)).manual_webhook_secret_githost
      : listed
    if (now !== undefined) {
      const changes = now === Redacted.value(secret)
        ? []
        : secretChange(now === null || now === "" ? null : masked)
      return { changes, unknown: [], writes, fact: { value: [now ?? ""] } }
    }
    const isSet = yield* Effect.either(platform.webhookSecretSet(uuid))
    const unknownSecret = (reason: string): Side => ({
      changes: [],
      unread: [{ field: secretField, label: secretLabel, reason }],
      unknown: [`the application's webhook secret: ${reason}`],
      writes,
      fact: unreadable
    })
    if (Either.isLeft(isSet)) return unknownSecret(isSet.left.message)
    return Disclosed.$match(isSet.right, {
      Known: ({ value }): Side => ({ changes: value ? [] : secretChange(null), unknown: [], writes, fact: { value } }),
      Absent: () => ({ changes: secretChange(null), unknown: [], writes, fact: { value: false } }),
      Hidden: ({ reason }) => unknownSecret(reason)
    })
  })

/** Decides the hook's change on the git host. */
const onGitHost = ({ branch, repository }: AppPlan, app: Option.Option<PlatformRecord>) =>
  Effect.gen(function*() {
    const platform = yield* Platform
    const url = yield* Option.match(app, {
      onNone: () => platform.webhookUrl,
      onSome: ({ uuid }) => platform.webhookUrlOf(uuid)
    })
    const hooks = yield* (yield* GitHost).hooks(repository)
    const fact = { value: hooks.filter((hook) => hook.url === url).map(({ active, id }) => [id, active]) }
    const change = (field: string, label: string, old: unknown, next: unknown): ReadonlyArray<PlanChange> => [
      { target: "hook", field, label, old, new: next }
    ]
    const action = decideHookAction(hooks, url)
    const side = HookAction.$match(action, {
      Create: (): Side => ({
        changes: change("url", "Webhook", null, url),
        unknown: [],
        writes: ["createHook"],
        fact
      }),
      Update: ({ hook, hook: { active, id } }) => ({
        // An upsert activates a hook; its events are left to the user.
        stays: checkHook({ ...hook, active: true }, branch).map(({ finding, fix }) => ({
          target: "hook" as const,
          field: "delivery",
          label: `Webhook ${id}`,
          declared: `delivers the pushes to ${branch}`,
          live: finding,
          remedy: fix
        })),
        changes: active ? [] : change("active", `Webhook ${id} active`, false, true),
        unknown: [`the secret of webhook ${id}: the git host never shows it, so it is written again`],
        writes: ["updateHook"],
        warnings: checkHook({ ...hook, active: true }, branch).map(({ finding, fix }) => `${finding}: ${fix}`),
        fact
      })
    })
    return { ...side, words: describeHookAction(action) }
  })

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
  const platformSide = yield* onPlatform(app, secret)
  const gitHostSide = yield* Effect.either(onGitHost(plan, app))
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
