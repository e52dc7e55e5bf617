import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import type { AppRequest } from "../../schema/applications/Drift.ts"
import { PlanFailed, type PlatformPlan } from "../../schema/applications/PlatformPlan.ts"
import type { GitHost } from "../../services/githost/GitHost.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import type { Platform } from "../../services/platform/Platform.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { withAnswerBudget } from "../../services/upstream/answerBudget.ts"
import { driftDiffs } from "../applications/driftDiffs.ts"
import { remainingDifferences } from "../applications/remainingDifferences.ts"
import type { Facts } from "../plans/Fact.ts"
import { describeHostPortAction } from "./hostPort/decideHostPort.ts"
import { describeHostPort } from "./hostPort/describeHostPort.ts"
import { describeChanges, describePlan, describeTarget, recordedUpdates } from "./inputs/describeInputs.ts"
import { findLive } from "./inputs/findLive.ts"
import { findTarget } from "./inputs/findTarget.ts"
import { readPlan } from "./inputs/readPlan.ts"
import type { Decisions } from "./PlanBinding.ts"
import { describeRecord } from "./record/describeRecord.ts"
import { describeRouteEdit } from "./route/decideRoute.ts"
import { describeRoute } from "./route/describeRoute.ts"
import { describeChangelog, describeDeployment } from "./steps/describeLastSteps.ts"
import type { PlannedSteps } from "./steps/matchesPlan.ts"
import { type Part, part } from "./steps/Part.ts"
import { describeWebhook } from "./webhook/describeWebhook.ts"

/** Services that planning reads with. */
export type PlanServices = GitHost | LocalFiles | Path.Path | Platform | Settings | Ssh

/** Plan of an upsert, with all that it was decided from. */
export interface DecidedUpsert {
  readonly plan: Omit<PlatformPlan, "planHash">
  readonly facts: Facts
  /** Writing calls, in order. */
  readonly writes: ReadonlyArray<string>
  /** Decisions for the steps to execute. */
  readonly decisions: Decisions
  /** Descriptions that bind the steps after a restart. */
  readonly planned: PlannedSteps
}

/** Fails the plan: later steps depend on this one. */
const needed = <A, E extends { readonly message: string; readonly status?: number }, R>(
  step: string,
  effect: Effect.Effect<A, E, R>
) => Effect.mapError(effect, ({ message, status }) => new PlanFailed({ step, reason: message, status: status ?? 500 }))

/** Steps after the one that an upsert would stop at are not reached. */
const asReached = (parts: ReadonlyArray<Part>): ReadonlyArray<Part> => {
  const last = parts.findIndex(({ stops }) => stops)
  return parts.map((one, index) =>
    last < 0 || index <= last
      ? one
      : part({ step: one.step, will: "skip", detail: `not reached: it would stop at ${parts[last]?.step}` })
  )
}

const wordsOf = (step: string, words: Option.Option<string>): PlannedSteps =>
  Option.match(words, { onNone: () => ({}), onSome: (text) => ({ [step]: text }) })

/** Reads everything that an upsert would read and decides each of its steps. Nothing is changed anywhere. */
export const decideUpsert = Effect.fn("decideUpsert")(function*(
  request: AppRequest
): Effect.fn.Return<DecidedUpsert, PlanFailed, PlanServices> {
  const plan = yield* needed("config", readPlan(request))
  const target = yield* needed("server", findTarget(plan))
  const live = yield* needed("check", findLive(plan))
  const { app, namesakes } = live
  const uuid = Option.map(app, (found) => found.uuid)
  // A new application's variables can be read only once it exists.
  const ofThere = <A>(decision: Option.Option<A>) => Option.zipRight(uuid, decision)

  const { action, part: sync } = yield* describeRecord(plan, target, app)
  const port = yield* describeHostPort(plan, uuid)
  const { projectPath } = request
  const { decision: routed, part: route } = yield* describeRoute({
    plan,
    target,
    app,
    namesakes,
    projectPath,
    portChange: port.change
  })
  const { part: webhook, words: hookWords } = yield* describeWebhook(plan, app)
  const { diffs } = Option.match(app, {
    onNone: () => ({ diffs: [] }),
    onSome: (record) => driftDiffs(plan, record, port.envs)
  })
  const ofFields = [...sync.changes, ...port.part.changes, ...route.changes]
  const stays = [
    ...remainingDifferences(diffs, ofFields),
    ...[sync, port.part, route, webhook].flatMap((one) => one.stays)
  ]
  const changelog = yield* describeChangelog(projectPath, [
    ...recordedUpdates(plan, app),
    ...Option.toArray(port.change),
    ...route.changes.filter((change) => change.target === "route")
  ])
  const deploy = describeDeployment(ofFields)

  const found = Option.match(uuid, { onNone: () => "CREATE", onSome: (id) => `UPDATE ${id}` })
  const updates = Option.isNone(app) ? "new app" : describeChanges(recordedUpdates(plan, app))
  const parts = asReached([
    part({ step: "config", will: "nothing", detail: describePlan({ ...plan, warnings: [] }) }),
    part({ step: "server", will: "nothing", detail: describeTarget(target) }),
    part({ step: "check", will: "nothing", detail: found }),
    part({ step: "validate", will: "nothing", detail: updates }),
    sync,
    port.part,
    route,
    changelog,
    deploy,
    webhook
  ])
  const changes = parts.flatMap((one) => one.changes)
  const stopping = parts.flatMap(({ detail, step, stops }) => stops ? [`${step}: ${detail}`] : [])
  const writes = parts.flatMap((one) => one.writes)
  const read = [sync, port.part, route, webhook].reduce<Facts>((all, { facts }) => ({ ...all, ...facts }), {})
  return {
    plan: {
      appName: plan.name,
      uuid: Option.getOrNull(uuid),
      action: Option.isNone(uuid) ? "create" : changes.length === 0 ? "none" : "update",
      changes,
      ...(stays.length === 0 ? {} : { stays }),
      steps: parts.map(({ detail, step, will }) => ({ step, will, detail })),
      unknown: [sync, port.part, route, webhook].flatMap((one) => one.unknown),
      warnings: [...plan.warnings, ...stopping, ...parts.flatMap((one) => one.warnings)]
    },
    facts: {
      ...read,
      entry: { value: [plan.raw, plan.repository, Option.getOrNull(plan.service)] },
      server: { value: [target.serverUuid, target.local, Option.getOrNull(target.ip)], now: describeTarget(target) },
      application: {
        value: [Option.getOrNull(uuid), namesakes],
        now: Option.match(uuid, { onNone: () => "not there", onSome: (id) => `there as ${id}` })
      },
      decided: { value: [writes, parts.map(({ step, will }) => [step, will])] }
    },
    writes,
    decisions: { plan, target, live, sync: action, port: ofThere(port.decision), route: routed },
    planned: {
      ...wordsOf("env", Option.zipWith(ofThere(port.decision), plan.port, describeHostPortAction)),
      ...wordsOf("route", Option.map(routed, (decision) => describeRouteEdit(decision.edit, decision))),
      ...(route.stops ? { route: "stop here" } : {}),
      ...wordsOf("webhook", hookWords)
    }
  }
}, withAnswerBudget)
