import { Effect, Either, Option, Predicate } from "effect"
import type { PlatformRecord } from "../../../schema/PlatformApp.ts"
import type { PlanChange } from "../../../schema/PlatformPlan.ts"
import { quoted } from "../../../schema/quoted.ts"
import { Platform } from "../../../services/platform/Platform.ts"
import type { Settings } from "../../../services/settings/Settings.ts"
import { createDefaults } from "../../applications/applications.ts"
import type { AppPlan } from "../../applications/appPlan.ts"
import { differences, updateFields } from "../../applications/changes.ts"
import { buildFields, writtenFields } from "../../applications/fields.ts"
import type { Facts } from "../../plans/Fact.ts"
import { describeChanges } from "../describe.ts"
import { decideSync } from "../sync.ts"
import { SyncAction } from "../syncAction.ts"
import type { Target } from "../target.ts"
import { type Part, part, stop, willOf } from "./Part.ts"

const exposedPorts = { field: "ports_exposes", label: "Exposed ports" }
const inApplication = (change: Omit<PlanChange, "target">): PlanChange => ({ target: "application", ...change })

const created = (fields: Readonly<Record<string, unknown>>): ReadonlyArray<PlanChange> => [
  inApplication({ field: "_action", label: "Action", old: null, new: "CREATED" }),
  ...Object.values(buildFields).flatMap(({ label, record }) =>
    fields[record] === undefined ? [] : [inApplication({ field: record, label, old: null, new: fields[record] })]
  )
]

/** What an update makes different: the fields of the changelog, and what is written beside them. */
export const updatesNeeded = (
  plan: AppPlan,
  app: PlatformRecord,
  fields: Readonly<Record<string, unknown>> = updateFields(plan)
): ReadonlyArray<PlanChange> => {
  const ports = app.raw[exposedPorts.field]
  const next = fields[exposedPorts.field]
  const isOther = (Predicate.isString(ports) || Predicate.isNumber(ports)) && String(ports) !== next
  return [
    ...differences(writtenFields(plan), plan, app),
    ...(isOther ? [{ ...exposedPorts, old: ports, new: next }] : [])
  ].map(inApplication)
}

const shown = (value: unknown) => Predicate.isString(value) ? quoted(value) : JSON.stringify(value ?? null)

/** How the application's record stands, field by field. */
const recordFacts = (app: Option.Option<PlatformRecord>): Facts => {
  const values: Readonly<Record<string, unknown>> = Option.match(app, {
    onNone: () => ({}),
    onSome: (record) => ({
      ...Object.fromEntries(Object.values(buildFields).map((field) => [field.record, record[field.record]])),
      ports_exposes: record.raw["ports_exposes"],
      fqdn: record.fqdn
    })
  })
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, now: shown(value) }]))
}

/** The plan of the step `sync`, and what it does; nothing where it would stop there. */
export interface PlannedSync {
  readonly part: Part
  readonly action: Option.Option<SyncAction>
}

/** Plans the step `sync`. */
export const planSync = Effect.fn("planSync")(function*(
  plan: AppPlan,
  target: Target,
  app: Option.Option<PlatformRecord>
): Effect.fn.Return<PlannedSync, never, Platform | Settings> {
  const platform = yield* Platform
  const action = yield* Effect.either(decideSync(plan, target, Option.map(app, ({ uuid }) => uuid)))
  const webhookUrl = yield* Effect.option(platform.webhookUrl)
  const defaults = yield* Effect.option(createDefaults(target.serverUuid))
  const ofNewApps = Option.match(defaults, {
    onNone: () => null,
    onSome: ({ privateKeyUuid, projectUuid }) => [projectUuid, privateKeyUuid]
  })
  const settings = { value: [plan.gitUrl.split("/")[0], Option.getOrNull(webhookUrl), ofNewApps] }
  const facts = { ...recordFacts(app), settings }
  if (Either.isLeft(action)) return { part: stop("sync", action.left.message, { facts }), action: Option.none() }
  const planned = SyncAction.$match(action.right, {
    Create: ({ fields, followUp }) =>
      part({
        step: "sync",
        will: "change",
        detail: `creates ${quoted(plan.name)}`,
        changes: created({ ...fields, ...Option.getOrElse(followUp, () => ({})) }),
        writes: ["createApplication", ...(Option.isSome(followUp) ? ["updateApplication"] : [])],
        facts
      }),
    Update: ({ fields, uuid }) => {
      const changes = Option.match(app, { onNone: () => [], onSome: (record) => updatesNeeded(plan, record, fields) })
      return part({
        step: "sync",
        will: willOf(changes),
        detail: changes.length === 0
          ? `${uuid} is as declared; its fields are written again`
          : `updates ${uuid}: ${describeChanges(changes)}`,
        changes,
        writes: ["updateApplication"],
        facts
      })
    }
  })
  return { part: planned, action: Option.some(action.right) }
})
