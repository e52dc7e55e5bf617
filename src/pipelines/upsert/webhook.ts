import { Effect, Either, Option, Redacted, Schema } from "effect"
import { Disclosed, type PlatformRecord } from "../../schema/applications.ts"
import type { DriftUnknown, PlanChange, StayingDifference } from "../../schema/upsert.ts"
import { mask } from "../../schema/words.ts"
import { GitHost } from "../../services/githost.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { skipStep } from "../../services/runs/Steps.ts"
import { Settings, type SettingsError } from "../../services/settings/Settings.ts"
import type { AppPlan } from "../applications/platformFile.ts"
import type { Fact } from "../planHash.ts"
import { decideHookAction, ensureHook, HookAction } from "../webhooks/hooks.ts"
import { checkHook } from "../webhooks/hooks.ts"
import {
  decideWill,
  describe,
  type Description,
  makeStep,
  type MatchesPlan,
  noChange,
  type Recorded,
  type Seen,
  unreadable
} from "./step.ts"

/** Configured secret for push events; none if not set. */
const webhookSecret: Effect.Effect<Option.Option<Redacted.Redacted>, SettingsError, Settings> = Effect.flatMap(
  Settings,
  (settings) => Effect.map(settings.find("gitHost.webhookSecret"), Option.filter((text) => Redacted.value(text) !== ""))
)

/** Reason to skip the step. */
const noWebhookSecret = "no webhook secret is configured: set gitHost.webhookSecret to deploy on push"

/** Describes an action on the hook, for comparison with a plan. */
const describeHookAction = HookAction.$match({
  Create: () => "create a webhook",
  Update: () => "update the webhook"
})

// An existing hook matches a planned creation: another application of the repository, or an earlier attempt, has
// created it.
const matchesHookPlan = (matches: MatchesPlan) => (action: HookAction) =>
  matches(HookAction.$is("Update")(action) ? noChange : describeHookAction(action))

const warned = (message: string) => `the webhook could not be set up: ${message}`

const secretField = "manual_webhook_secret_githost"
const secretLabel = "Webhook secret"

/** Planned change of one side of the webhook. */
interface WebhookSide {
  readonly stays?: ReadonlyArray<StayingDifference>
  readonly unread?: ReadonlyArray<DriftUnknown>
  readonly changes: ReadonlyArray<PlanChange>
  readonly unknown: ReadonlyArray<string>
  readonly writes: ReadonlyArray<string>
  readonly warnings?: ReadonlyArray<string>
  readonly fact: Fact
}

const secretChange = (old: unknown): ReadonlyArray<PlanChange> => [
  { target: "application", field: secretField, label: secretLabel, old, new: mask }
]

/** Compares the application's secret with the configured one; a secret that the token cannot read is unknown. */
const decideSecret = (
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
        : secretChange(now === null || now === "" ? null : mask)
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
const decideHook = ({ branch, repository }: AppPlan, app: Option.Option<PlatformRecord>) =>
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
        warnings: [
          ...checkHook({ ...hook, active: true }, branch).map(({ finding, fix }) => `${finding}: ${fix}`),
          ...hook.lost === undefined ? [] : [
            `Hook ${id} is replaced by one with the secret, without its ${
              hook.lost.join(" and ")
            }, if it has any: this ` +
            "git host does not tell them"
          ]
        ],
        fact
      })
    })
    return { ...side, words: describeHookAction(action) }
  })

/** Plan of the step, with a description of the hook's action; none if the hook is not changed. */
interface DescribedWebhook {
  readonly part: Description
  readonly words: Option.Option<string>
}

/** Plans the step, which never stops an upsert. */
export const describeWebhook = Effect.fn("describeWebhook")(function*({ app, plan }: Pick<Seen, "app" | "plan">) {
  const configured = yield* Effect.either(webhookSecret)
  const alone = (...given: Parameters<typeof describe>): DescribedWebhook => ({
    part: describe(...given),
    words: Option.none()
  })
  if (Either.isLeft(configured)) {
    const { message } = configured.left
    const unread = [{ field: "url", label: "Webhook", reason: message }]
    return alone({ will: "nothing", detail: warned(message), warnings: [warned(message)], unread })
  }
  if (Option.isNone(configured.right)) {
    return alone({ will: "skip", detail: noWebhookSecret })
  }
  const secret = configured.right.value
  const facts = { secret: { value: Redacted.value(secret) } }
  const platformSide = yield* decideSecret(app, secret)
  const gitHostSide = yield* Effect.either(decideHook(plan, app))
  if (Either.isLeft(gitHostSide)) {
    const { message } = gitHostSide.left
    const repository = `${plan.repository.owner}/${plan.repository.name}`
    return alone({
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
    })
  }
  const changes = [...platformSide.changes, ...gitHostSide.right.changes]
  const part = describe({
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
  return { part, words: Option.some(gitHostSide.right.words) }
})

/**
 * Upsert step 10: makes pushes deploy the application. A failure is only a warning in the step's detail, because the
 * application is already deployed.
 */
export const webhookStep = makeStep("webhook", {
  plan: describeWebhook,
  apply: (state: Recorded, { matches, stage }) =>
    Effect.gen(function*() {
      const secret = yield* Effect.either(webhookSecret)
      if (Either.isRight(secret) && Option.isNone(secret.right)) {
        yield* skipStep("webhook", noWebhookSecret)
        return state
      }
      const done = Effect.gen(function*() {
        const platform = yield* Platform
        const value = yield* Effect.flatten(secret)
        yield* platform.setWebhookSecret(state.uuid, value)
        const url = yield* platform.webhookUrlOf(state.uuid)
        return yield* ensureHook(state.plan.repository, url, value, matchesHookPlan(matches))
      })
      const outcome = Effect.catchAll(done, ({ message }) => Effect.succeed(`Warning: ${warned(message)}`))
      yield* stage(Schema.String, () => outcome, (detail) => detail)
      return state
    })
})
