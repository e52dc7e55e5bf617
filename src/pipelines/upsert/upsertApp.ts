import type { Path } from "@effect/platform"
import { DateTime, Effect, Option, Schema } from "effect"
import { ChangelogEntry, changelogFileName } from "../../schema/Changelog.ts"
import type { AppRequest } from "../../schema/Drift.ts"
import { UpsertFailed, type UpsertResult } from "../../schema/Upsert.ts"
import type { GitHost } from "../../services/githost/GitHost.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import type { Locks } from "../../services/locks/Locks.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { durableStep, once, skip, type StepOutcome, Steps } from "../../services/runs/Steps.ts"
import { secretsInUse } from "../../services/secrets/secretsInUse.ts"
import { shownJson } from "../../services/secrets/shownText.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Sftp } from "../../services/ssh/Sftp.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import type { AppPlan } from "../applications/appPlan.ts"
import { appendChangelog } from "../applications/changelog.ts"
import { agreedWith } from "./agreed.ts"
import { describeChanges, describePlan, describeTarget, updatesOf } from "./describe.ts"
import { findLive } from "./findLive.ts"
import { findTarget } from "./findTarget.ts"
import { type Decisions, type Held, notHeld } from "./Held.ts"
import { intentIn } from "./intent.ts"
import { KeptChange, KeptCheck, KeptDeployment, KeptPlan, KeptTarget } from "./kept.ts"
import { readPlan } from "./readPlan.ts"
import { type DomainRoute, type Routed, routeDomain } from "./routeDomain.ts"
import { setHostPort } from "./setHostPort.ts"
import { setUpWebhook } from "./setUpWebhook.ts"
import { sync } from "./sync.ts"

/** A step whose failure ends the upsert, and says which step it was and what is made by then. */
const stage = <A, I, E extends { readonly message: string }, R>(
  name: string,
  kept: Schema.Schema<A, I>,
  effect: (isRepeated: boolean) => Effect.Effect<A, E, R>,
  outcome: (result: A) => string | StepOutcome,
  state: string = ""
): Effect.Effect<A, UpsertFailed, R | Settings | Steps> =>
  Effect.mapError(
    durableStep(name, kept, effect, outcome),
    ({ message }) => new UpsertFailed({ step: name, reason: message, state })
  )

const orElse = <A, E, R>(known: Option.Option<A>, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Option.match(known, { onNone: () => effect, onSome: Effect.succeed })

const madeBy = ({ port }: AppPlan, uuid: string, isNew: boolean) => {
  const taken = Option.match(port, { onNone: () => "", onSome: (number) => `, and its port ${number} is taken` })
  return `The application ${
    isNew ? "exists now" : "is updated"
  } (${uuid})${taken}: running upsert again goes on from there`
}

const route = (wanted: Omit<DomainRoute, "domain">, made: string) =>
  Option.match(wanted.plan.domain, {
    onNone: () => Effect.as(skip("route", "no domain"), { detail: "", change: Option.none() } satisfies Routed),
    onSome: (domain) =>
      stage("route", KeptChange, () => routeDomain({ ...wanted, domain }), ({ detail }) => detail, made)
  })

/**
 * Creates or updates the application of an entry of a project's `platform.json`, with its port, its proxy route, a
 * deployment and its webhook. The steps and the order of their calls are fixed; each depends only on what the ones
 * before it answered.
 * @param held the decisions that the steps execute; a step that none is given for reads and decides when it is reached
 */
export const upsertApp = Effect.fn("upsertApp")(function*(
  request: AppRequest,
  { decisions, planned }: Held = notHeld
): Effect.fn.Return<
  UpsertResult,
  UpsertFailed,
  GitHost | LocalFiles | Locks | Path.Path | Platform | Settings | Sftp | Ssh | Steps
> {
  const platform = yield* Platform
  const steps = yield* Steps
  const intent = intentIn(steps)

  // A platform may show a repository's address with a token in it.
  const secrets = yield* secretsInUse
  const shown = (value: unknown) => shownJson(value, secrets)

  const agreed = agreedWith(planned)
  const decided = <K extends keyof Decisions>(name: K) => Option.map(decisions, (all) => all[name])
  const plan = yield* stage("config", KeptPlan, () => orElse(decided("plan"), readPlan(request)), describePlan)
  const target = yield* stage("server", KeptTarget, () => orElse(decided("target"), findTarget(plan)), describeTarget)
  const { namesakes, updates, uuid: found } = yield* stage(
    "check",
    KeptCheck,
    () =>
      Effect.map(orElse(decided("live"), findLive(plan)), ({ app, namesakes }) => ({
        uuid: Option.map(app, ({ uuid }) => uuid),
        namesakes,
        updates: updatesOf(plan, app).map((change) => ({ ...change, old: shown(change.old), new: shown(change.new) }))
      })),
    ({ uuid }) => Option.match(uuid, { onNone: () => "CREATE", onSome: (uuid) => `UPDATE ${uuid}` })
  )
  const isNew = Option.isNone(found)
  yield* stage("validate", Schema.Void, () => Effect.void, () => isNew ? "new app" : describeChanges(updates))
  const uuid = yield* stage(
    "sync",
    Schema.String,
    (isRepeated) => sync(plan, target, found, isRepeated, Option.flatten(decided("sync"))),
    (id) => `${isNew ? "created" : "updated"} ${id}`
  )
  const port = yield* stage(
    "env",
    KeptChange,
    () => setHostPort(plan, uuid, Option.flatten(decided("port")), agreed("env"), intent("env")),
    ({ detail }) => detail
  )
  const made = madeBy(plan, uuid, isNew)
  const routed = yield* route({
    plan,
    target,
    uuid,
    portChange: port.change,
    namesakes,
    projectPath: request.projectPath,
    planned: Option.flatten(decided("route")),
    agreed: agreed("route"),
    intent: intent("route")
  }, made)

  const changes = [...updates, ...Option.toArray(port.change), ...Option.toArray(routed.change)]
  // Made once, so that an entry that is written already can be told.
  const changelogEntry = yield* once("changelog entry", ChangelogEntry, () =>
    Effect.map(DateTime.now, (now) => ({
      timestamp: DateTime.formatIso(now),
      action: isNew ? "create" as const : "update" as const,
      appName: plan.name,
      uuid,
      changes: changes.map((change) => ({ ...change, old: shown(change.old), new: shown(change.new) })),
      configSnapshot: plan.raw
    })))
  yield* stage(
    "changelog",
    Schema.Void,
    (isRepeated) => appendChangelog(request.projectPath, changelogEntry, isRepeated),
    () => `${changelogFileName}: ${describeChanges(changelogEntry.changes)}`,
    made
  )
  yield* stage("deploy", KeptDeployment, () => platform.deploy(uuid), ({ notQueued }) =>
    Option.match(notQueued, {
      onNone: () => "the platform was asked to deploy",
      onSome: (why): StepOutcome => ({ status: "skipped", detail: `the platform queued no deployment: ${why}` })
    }), made)
  yield* setUpWebhook(plan, uuid, agreed("webhook"))

  const domain = Option.getOrElse(plan.domain, () => "")
  return { success: true, uuid, domain, changelogEntry, steps: yield* steps.all }
})
