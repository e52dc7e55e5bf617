import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { changelogFileName } from "../../schema/applications/Changelog.ts"
import type { AppRequest } from "../../schema/applications/Drift.ts"
import { PlanFailed, type PlatformPlan } from "../../schema/applications/PlatformPlan.ts"
import type { GitHost } from "../../services/githost/GitHost.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import type { Platform } from "../../services/platform/Platform.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { withAnswerBudget } from "../../services/upstream/answerBudget.ts"
import { computeDriftDiffs } from "../applications/computeDriftDiffs.ts"
import { computeRemainingDifferences } from "../applications/remainingDifferences.ts"
import type { Facts } from "../plans/Fact.ts"
import { refuseLink } from "../projects/files/ownFiles.ts"
import { describeHostPortAction } from "./hostPort/decideHostPort.ts"
import { describeHostPort } from "./hostPort/describeHostPort.ts"
import { describeChanges, describePlan, describeTarget, listChangelogUpdates } from "./inputs/describeInputs.ts"
import { findLive } from "./inputs/findLive.ts"
import { findPlatformTarget } from "./inputs/findPlatformTarget.ts"
import { readPlan } from "./inputs/readPlan.ts"
import type { Decisions } from "./PlanBinding.ts"
import { describeRecord } from "./record/describeRecord.ts"
import { describeRouteEdit } from "./route/decideRoute.ts"
import { describeRoute } from "./route/describeRoute.ts"
import { describeChangelog, describeDeployment } from "./steps/describeLastSteps.ts"
import type { PlannedSteps } from "./steps/matchesPlan.ts"
import { makePart, type Part } from "./steps/Part.ts"
import { describeWebhook } from "./webhook/describeWebhook.ts"

/** Services required for planning. */
export type PlanServices = GitHost | LocalFiles | Path.Path | Platform | Settings | Ssh

/** Plan of an upsert, with everything that it is based on. */
export interface DecidedUpsert {
  readonly plan: Omit<PlatformPlan, "planHash">
  readonly facts: Facts
  /** Write calls in order. */
  readonly writes: ReadonlyArray<string>
  /** Decisions for the steps to execute. */
  readonly decisions: Decisions
  /** Descriptions that bind the steps after a restart. */
  readonly planned: PlannedSteps
}

/** Fails the plan with this step, because later steps depend on it. */
const needed = <A, E extends { readonly message: string; readonly status?: number }, R>(
  step: string,
  effect: Effect.Effect<A, E, R>
) => Effect.mapError(effect, ({ message, status }) => new PlanFailed({ step, reason: message, status: status ?? 500 }))

/** Marks the steps after the one at which an upsert would stop as not reached. */
const asReached = (parts: ReadonlyArray<Part>): ReadonlyArray<Part> => {
  const last = parts.findIndex(({ stops }) => stops)
  return parts.map((one, index) =>
    last < 0 || index <= last
      ? one
      : makePart({ step: one.step, will: "skip", detail: `not reached: it would stop at ${parts[last]?.step}` })
  )
}

const wordsOf = (step: string, words: Option.Option<string>): PlannedSteps =>
  Option.match(words, { onNone: () => ({}), onSome: (text) => ({ [step]: text }) })

/** Reads the declaration, its target server and the live application. */
const readInputs = Effect.fn("readInputs")(function*(request: AppRequest) {
  const plan = yield* needed(
    "config",
    Effect.zipLeft(readPlan(request), refuseLink(request.projectPath, changelogFileName))
  )
  const target = yield* needed("server", findPlatformTarget(plan))
  const live = yield* needed("check", findLive(plan))
  return { plan, target, live }
})
type Inputs = Effect.Effect.Success<ReturnType<typeof readInputs>>

/** Decides the steps that read what they change: record, host port, route, changelog and webhook. */
const describeWrites = Effect.fn("describeWrites")(function*({ live, plan, target }: Inputs, projectPath: string) {
  const { app, namesakes } = live
  const record = yield* describeRecord(plan, target, app)
  const port = yield* describeHostPort(plan, Option.map(app, ({ uuid }) => uuid))
  const route = yield* describeRoute({ plan, target, app, namesakes, projectPath, portChange: port.change })
  const webhook = yield* describeWebhook(plan, app)
  const changelog = yield* describeChangelog(projectPath, [
    ...listChangelogUpdates(plan, app),
    ...Option.toArray(port.change),
    ...route.part.changes.filter((change) => change.target === "route")
  ])
  const differing = Option.match(app, {
    onNone: () => [],
    onSome: (live) => computeDriftDiffs(plan, live, port.envs).diffs
  })
  // A deployment applies these; the changelog and the webhook need none.
  const fieldChanges = [record, port, route].flatMap(({ part }) => part.changes)
  return { record, port, route, webhook, changelog, differing, fieldChanges }
})
type Writes = Effect.Effect.Success<ReturnType<typeof describeWrites>>

/** Steps of an upsert in their order. */
const orderParts = ({ live: { app }, plan, target }: Inputs, writes: Writes): ReadonlyArray<Part> => {
  const { changelog, port, record, route, webhook } = writes
  const found = Option.match(app, { onNone: () => "CREATE", onSome: ({ uuid }) => `UPDATE ${uuid}` })
  const updates = Option.isNone(app) ? "new app" : describeChanges(listChangelogUpdates(plan, app))
  const deploy = describeDeployment(writes.fieldChanges)
  return asReached([
    makePart({ step: "config", will: "nothing", detail: describePlan({ ...plan, warnings: [] }) }),
    makePart({ step: "server", will: "nothing", detail: describeTarget(target) }),
    makePart({ step: "check", will: "nothing", detail: found }),
    makePart({ step: "validate", will: "nothing", detail: updates }),
    record.part,
    port.part,
    route.part,
    changelog,
    deploy,
    webhook.part
  ])
}

/** Plan as users see it. */
const summarizePlan = ({ live: { app }, plan }: Inputs, writes: Writes, parts: ReadonlyArray<Part>) => {
  const changes = parts.flatMap((one) => one.changes)
  const stopping = parts.flatMap(({ detail, step, stops }) => stops ? [`${step}: ${detail}`] : [])
  const reading = [writes.record.part, writes.port.part, writes.route.part, writes.webhook.part]
  const stays = [
    ...computeRemainingDifferences(writes.differing, writes.fieldChanges),
    ...reading.flatMap((one) => one.stays)
  ]
  const action: PlatformPlan["action"] = Option.isNone(app) ? "create" : changes.length === 0 ? "none" : "update"
  return {
    appName: plan.name,
    uuid: Option.match(app, { onNone: () => null, onSome: ({ uuid }) => uuid }),
    action,
    changes,
    ...(stays.length === 0 ? {} : { stays }),
    steps: parts.map(({ detail, step, will }) => ({ step, will, detail })),
    unknown: reading.flatMap((one) => one.unknown),
    warnings: [...plan.warnings, ...stopping, ...parts.flatMap((one) => one.warnings)]
  }
}

/** Facts that the plan's hash covers: all that was read, and what was decided from it. */
const collectFacts = (
  { live: { app, namesakes }, plan, target }: Inputs,
  { port, record, route, webhook }: Writes,
  parts: ReadonlyArray<Part>
): Facts => ({
  ...record.part.facts,
  ...port.part.facts,
  ...route.part.facts,
  ...webhook.part.facts,
  entry: { value: [plan.raw, plan.repository, Option.getOrNull(plan.service)] },
  server: { value: [target.serverUuid, target.local, Option.getOrNull(target.ip)], now: describeTarget(target) },
  application: {
    value: [Option.match(app, { onNone: () => null, onSome: ({ uuid }) => uuid }), namesakes],
    now: Option.match(app, { onNone: () => "not there", onSome: ({ uuid }) => `there as ${uuid}` })
  },
  decided: { value: [parts.flatMap((one) => one.writes), parts.map(({ step, will }) => [step, will])] }
})

/** Reads everything that an upsert would read and decides each of its steps. Changes nothing. */
export const decideUpsert = Effect.fn("decideUpsert")(function*(
  request: AppRequest
): Effect.fn.Return<DecidedUpsert, PlanFailed, PlanServices> {
  const inputs = yield* readInputs(request)
  const writes = yield* describeWrites(inputs, request.projectPath)
  const parts = orderParts(inputs, writes)
  const { port, record, route, webhook } = writes
  const { live, plan, target } = inputs
  // A new application's variables can be read only once it exists.
  const portDecision = Option.zipRight(live.app, port.decision)
  return {
    plan: summarizePlan(inputs, writes, parts),
    facts: collectFacts(inputs, writes, parts),
    writes: parts.flatMap((one) => one.writes),
    decisions: { plan, target, live, sync: record.action, port: portDecision, route: route.decision },
    planned: {
      ...wordsOf("env", Option.zipWith(portDecision, plan.port, describeHostPortAction)),
      ...wordsOf("route", Option.map(route.decision, (decision) => describeRouteEdit(decision.edit, decision))),
      ...(route.part.stops ? { route: "stop here" } : {}),
      ...wordsOf("webhook", webhook.words)
    }
  }
}, withAnswerBudget)
