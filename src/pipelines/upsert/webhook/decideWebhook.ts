import { Effect, Either, Option, Redacted } from "effect"
import type { DriftUnknown } from "../../../schema/applications/Drift.ts"
import type { PlatformRecord } from "../../../schema/applications/PlatformApp.ts"
import type { PlanChange, StayingDifference } from "../../../schema/applications/PlatformPlan.ts"
import { Disclosed } from "../../../schema/basics/Disclosed.ts"
import { GitHost } from "../../../services/githost/GitHost.ts"
import { Platform } from "../../../services/platform/Platform.ts"
import type { AppPlan } from "../../applications/appPlan.ts"
import type { Fact } from "../../plans/Fact.ts"
import { decideHookAction, HookAction } from "../../webhooks/pushHook.ts"
import { checkHook } from "../../webhooks/webhookFindings.ts"
import { unreadable } from "../steps/Part.ts"
import { describeHookAction } from "./webhookSecret.ts"

const secretField = "manual_webhook_secret_githost"
const secretLabel = "Webhook secret"
const masked = "***"

/** Planned change of one side of the webhook. */
export interface WebhookSide {
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
export const decideSecret = (
  app: Option.Option<PlatformRecord>,
  secret: Redacted.Redacted
): Effect.Effect<WebhookSide, never, Platform> =>
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
    const unknownSecret = (reason: string): WebhookSide => ({
      changes: [],
      unread: [{ field: secretField, label: secretLabel, reason }],
      unknown: [`the application's webhook secret: ${reason}`],
      writes,
      fact: unreadable
    })
    if (Either.isLeft(isSet)) return unknownSecret(isSet.left.message)
    return Disclosed.$match(isSet.right, {
      Known: ({ value }): WebhookSide => ({
        changes: value ? [] : secretChange(null),
        unknown: [],
        writes,
        fact: { value }
      }),
      Absent: () => ({ changes: secretChange(null), unknown: [], writes, fact: { value: false } }),
      Hidden: ({ reason }) => unknownSecret(reason)
    })
  })

/** Decides the hook's change on the git host. */
export const decideHook = ({ branch, repository }: AppPlan, app: Option.Option<PlatformRecord>) =>
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
      Create: (): WebhookSide => ({
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
