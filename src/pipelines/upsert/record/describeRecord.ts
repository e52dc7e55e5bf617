import { Effect, Either, Option, Predicate } from "effect"
import { exposedPorts } from "../../../schema/applications/declaredFields.ts"
import type { PlatformRecord } from "../../../schema/applications/PlatformApp.ts"
import type { PlanChange } from "../../../schema/applications/PlatformPlan.ts"
import { recordFields } from "../../../schema/applications/recordColumns.ts"
import { quoteInput } from "../../../schema/words/quoted.ts"
import { Platform } from "../../../services/platform/Platform.ts"
import type { Settings } from "../../../services/settings/Settings.ts"
import { readCreateDefaults } from "../../applications/applications.ts"
import type { AppPlan } from "../../applications/appPlan.ts"
import { buildUpdateFields, compareFields } from "../../applications/changes.ts"
import { inDriftOrder, listWrittenFields } from "../../applications/fields.ts"
import type { Facts } from "../../plans/Fact.ts"
import { describeChanges } from "../inputs/describeInputs.ts"
import type { PlatformTarget } from "../inputs/target.ts"
import { decideWill, makePart, type Part, stop } from "../steps/Part.ts"
import { decideRecord, RecordAction } from "./decideRecord.ts"

const inApplication = (change: Omit<PlanChange, "target">): PlanChange => ({ target: "application", ...change })

const created = (fields: Readonly<Record<string, unknown>>): ReadonlyArray<PlanChange> => [
  inApplication({ field: "_action", label: "Action", old: null, new: "CREATED" }),
  ...inDriftOrder.flatMap(({ label, record: { key } }) =>
    fields[key] === undefined ? [] : [inApplication({ field: key, label, old: null, new: fields[key] })]
  )
]

/** Changes by an update: the fields of the changelog, and others written with them. */
export const listRecordUpdates = (
  plan: AppPlan,
  app: PlatformRecord,
  fields: Readonly<Record<string, unknown>> = buildUpdateFields(plan)
): ReadonlyArray<PlanChange> => {
  const { key, label } = exposedPorts
  const ports = app.raw[key]
  const next = fields[key]
  const isOther = (Predicate.isString(ports) || Predicate.isNumber(ports)) && String(ports) !== next
  return [
    ...compareFields(listWrittenFields(plan), plan, app),
    ...(isOther ? [{ field: key, label, old: ports, new: next }] : [])
  ].map(inApplication)
}

const describeValue = (value: unknown) => Predicate.isString(value) ? quoteInput(value) : JSON.stringify(value ?? null)

/** Facts of the application's record, field by field. */
const recordFacts = (app: Option.Option<PlatformRecord>): Facts => {
  const values: Readonly<Record<string, unknown>> = Option.match(app, {
    onNone: () => ({}),
    onSome: (record) => ({
      ...Object.fromEntries(recordFields.map(({ record: { key } }) => [key, record[key]])),
      [exposedPorts.key]: record.raw[exposedPorts.key],
      fqdn: record.fqdn
    })
  })
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, now: describeValue(value) }]))
}

/** Plan of the step `sync`, with its action; none if an upsert would stop there. */
export interface DescribedRecord {
  readonly part: Part
  readonly action: Option.Option<RecordAction>
}

/** Plans the step `sync`. */
export const describeRecord = Effect.fn("describeRecord")(function*(
  plan: AppPlan,
  target: PlatformTarget,
  app: Option.Option<PlatformRecord>
): Effect.fn.Return<DescribedRecord, never, Platform | Settings> {
  const platform = yield* Platform
  const action = yield* Effect.either(decideRecord(plan, target, Option.map(app, ({ uuid }) => uuid)))
  const webhookUrl = yield* Effect.option(platform.webhookUrl)
  const defaults = yield* Effect.option(readCreateDefaults(target.serverUuid))
  const ofNewApps = Option.match(defaults, {
    onNone: () => null,
    onSome: ({ privateKeyUuid, projectUuid }) => [projectUuid, privateKeyUuid]
  })
  const settings = { value: [plan.gitUrl.split("/")[0], Option.getOrNull(webhookUrl), ofNewApps] }
  const facts = { ...recordFacts(app), settings }
  if (Either.isLeft(action)) return { part: stop("sync", action.left.message, { facts }), action: Option.none() }
  const planned = RecordAction.$match(action.right, {
    Create: ({ fields, followUp }) =>
      makePart({
        step: "sync",
        will: "change",
        detail: `creates ${quoteInput(plan.name)}`,
        changes: created({ ...fields, ...Option.getOrElse(followUp, () => ({})) }),
        writes: ["createApplication", ...(Option.isSome(followUp) ? ["updateApplication"] : [])],
        facts
      }),
    Update: ({ fields, uuid }) => {
      const changes = Option.match(app, {
        onNone: () => [],
        onSome: (record) => listRecordUpdates(plan, record, fields)
      })
      return makePart({
        step: "sync",
        will: decideWill(changes),
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
