import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import type { AppRequest } from "../../../schema/Drift.ts"
import { PlanFailed, type PlatformPlan } from "../../../schema/PlatformPlan.ts"
import type { GitHost } from "../../../services/githost/GitHost.ts"
import type { LocalFiles } from "../../../services/local/LocalFiles.ts"
import type { Platform } from "../../../services/platform/Platform.ts"
import type { Settings } from "../../../services/settings/Settings.ts"
import type { Ssh } from "../../../services/ssh/Ssh.ts"
import { withAnswerBudget } from "../../../services/upstream/answerBudget.ts"
import { driftDiffs } from "../../applications/driftDiffs.ts"
import { staysOf } from "../../applications/staysOf.ts"
import type { Facts } from "../../plans/Fact.ts"
import type { Planned } from "../agreed.ts"
import { routeWords } from "../decideRoute.ts"
import { describeChanges, describePlan, describeTarget, updatesOf } from "../describe.ts"
import { findLive } from "../findLive.ts"
import { findTarget } from "../findTarget.ts"
import type { Decisions } from "../Held.ts"
import { hostPortWords } from "../hostPortAction.ts"
import { readPlan } from "../readPlan.ts"
import { type Part, part } from "./Part.ts"
import { planHostPort } from "./planHostPort.ts"
import { planChangelog, planDeploy } from "./planRecord.ts"
import { planRoute } from "./planRoute.ts"
import { planSync } from "./planSync.ts"
import { planWebhook } from "./planWebhook.ts"

/** What planning takes: everything that an upsert reads with. */
export type PlanServices = GitHost | LocalFiles | Path.Path | Platform | Settings | Ssh

/** What an upsert would do now, and everything that this follows from. */
export interface Decided {
  readonly plan: Omit<PlatformPlan, "planHash">
  readonly facts: Facts
  /** What would be called to change something, in that order. */
  readonly writes: ReadonlyArray<string>
  /** The same for the steps to execute. */
  readonly decisions: Decisions
  /** What the steps are held to that go on after a restart. */
  readonly planned: Planned
}

/** A step without which nothing can be planned. */
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

const wordsOf = (step: string, words: Option.Option<string>): Planned =>
  Option.match(words, { onNone: () => ({}), onSome: (text) => ({ [step]: text }) })

/** Reads everything that an upsert would read and decides each of its steps. Nothing is changed anywhere. */
export const decide = Effect.fn("decide")(function*(
  request: AppRequest
): Effect.fn.Return<Decided, PlanFailed, PlanServices> {
  const plan = yield* needed("config", readPlan(request))
  const target = yield* needed("server", findTarget(plan))
  const live = yield* needed("check", findLive(plan))
  const { app, namesakes } = live
  const uuid = Option.map(app, (found) => found.uuid)
  // The variables of an application that does not exist yet can only be read once it does.
  const ofThere = <A>(decision: Option.Option<A>) => Option.zipRight(uuid, decision)

  const { action, part: sync } = yield* planSync(plan, target, app)
  const port = yield* planHostPort(plan, uuid)
  const { projectPath } = request
  const { decision: routed, part: route } = yield* planRoute({
    plan,
    target,
    app,
    namesakes,
    projectPath,
    portChange: port.change
  })
  const { part: webhook, words: hookWords } = yield* planWebhook(plan, app)
  const { diffs } = Option.match(app, {
    onNone: () => ({ diffs: [] }),
    onSome: (record) => driftDiffs(plan, record, port.envs)
  })
  const ofFields = [...sync.changes, ...port.part.changes, ...route.changes]
  const stays = [
    ...staysOf(diffs, ofFields),
    ...[sync, port.part, route, webhook].flatMap((one) => one.stays)
  ]
  const changelog = yield* planChangelog(projectPath, [
    ...updatesOf(plan, app),
    ...Option.toArray(port.change),
    ...route.changes.filter((change) => change.target === "route")
  ])
  const deploy = planDeploy(ofFields)

  const found = Option.match(uuid, { onNone: () => "CREATE", onSome: (id) => `UPDATE ${id}` })
  const updates = Option.isNone(app) ? "new app" : describeChanges(updatesOf(plan, app))
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
      ...wordsOf("env", Option.zipWith(ofThere(port.decision), plan.port, hostPortWords)),
      ...wordsOf("route", Option.map(routed, (decision) => routeWords(decision.edit, decision))),
      ...(route.stops ? { route: "stop here" } : {}),
      ...wordsOf("webhook", hookWords)
    }
  }
}, withAnswerBudget)
