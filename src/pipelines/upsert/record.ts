import { Array, Data, Effect, Either, Option, Predicate, Schema } from "effect"
import { type PlatformRecord, PlatformUnavailable, recordFields } from "../../schema/applications.ts"
import { exposedPorts } from "../../schema/declaredFields.ts"
import type { PlanChange } from "../../schema/upsert.ts"
import { quoteInput } from "../../schema/words.ts"
import { type AppFields, Platform, type ServedAddress } from "../../services/platform/Platform.ts"
import type { Settings, SettingsError } from "../../services/settings/Settings.ts"
import {
  type CreateDefaults,
  inDriftOrder,
  listWrittenFields,
  readCreateDefaults
} from "../applications/applications.ts"
import {
  buildDeclaredCreateFields,
  buildUpdateFields,
  compareFields,
  followUpFields
} from "../applications/differences.ts"
import { type AppPlan } from "../applications/platformFile.ts"
import type { Facts } from "../planHash.ts"
import {
  type Checked,
  decideWill,
  describe,
  describeChanges,
  describeStop,
  makeStep,
  type PlatformTarget,
  type Seen,
  type Synced
} from "./step.ts"

/** Action that brings an application's record to its declaration. */
type RecordAction = Data.TaggedEnum<{
  /** `followUp` is written once the application exists. */
  Create: {
    readonly fields: AppFields
    readonly served: Option.Option<ServedAddress>
    readonly followUp: Option.Option<AppFields>
  }
  Update: { readonly uuid: string; readonly fields: AppFields }
}>
const RecordAction = Data.taggedEnum<RecordAction>()

/** Decides how a new application is created. */
const createAction = (plan: AppPlan, { local }: PlatformTarget, defaults: CreateDefaults): RecordAction =>
  RecordAction.Create({
    fields: buildDeclaredCreateFields(plan, defaults),
    served: local && plan.buildPack === "composestack"
      ? Option.zipWith(plan.domain, plan.service, (domain, service) => ({ url: `https://${domain}`, service }))
      : Option.none(),
    followUp: followUpFields(plan)
  })

/** Decides the update of an existing application, which writes every field even if unchanged. */
const updateAction = (plan: AppPlan, uuid: string): RecordAction =>
  RecordAction.Update({ uuid, fields: buildUpdateFields(plan) })

/** Decides upsert step 5; reads the settings' defaults only for a new application. */
const decideRecord = (
  plan: AppPlan,
  target: PlatformTarget,
  found: Option.Option<string>
): Effect.Effect<RecordAction, SettingsError, Settings> =>
  Option.match(found, {
    onNone: () => Effect.map(readCreateDefaults(target.serverUuid), (defaults) => createAction(plan, target, defaults)),
    onSome: (uuid) => Effect.succeed(updateAction(plan, uuid))
  })

const uuidIn = Schema.decodeUnknown(Schema.Struct({ uuid: Schema.NonEmptyString }))

const create = ({ fields, followUp, served }: Data.TaggedEnum.Value<RecordAction, "Create">) =>
  Effect.gen(function*() {
    const platform = yield* Platform
    const { uuid } = yield* Effect.mapError(
      Effect.flatMap(platform.createApplication(fields, Option.getOrUndefined(served)), (created) => uuidIn(created)),
      (error) =>
        error._tag === "ParseError"
          ? new PlatformUnavailable({
            call: "creating the application",
            reason: "it was created, but the answer names no uuid: run the upsert again"
          })
          : error
    )
    if (Option.isSome(followUp)) yield* platform.updateApplication(uuid, followUp.value)
    return uuid
  })

/** Finds an application that an interrupted attempt has created. */
const createdBefore = (plan: AppPlan) =>
  Effect.gen(function*() {
    const platform = yield* Platform
    const found = Array.findFirst(yield* platform.applications, ({ name }) => name === plan.name)
    const followUp = followUpFields(plan)
    if (Option.isSome(found) && Option.isSome(followUp)) {
      yield* platform.updateApplication(found.value.uuid, followUp.value)
    }
    return Option.map(found, ({ uuid }) => uuid)
  })

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

/** Plans the step. */
const planRecord = Effect.fn("planRecord")(function*({ app, plan, target }: Seen) {
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
  if (Either.isLeft(action)) return { part: describeStop(action.left.message, { facts }) }
  const part = RecordAction.$match(action.right, {
    Create: ({ fields, followUp }) =>
      describe({
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
      return describe({
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
  return { part, decision: Option.some(action.right) }
})

/**
 * Executes an action and returns the application's uuid.
 * @param isRepeated true if an earlier attempt may have created the application
 */
const applyRecord = Effect.fn("applyRecord")(function*(
  { found, plan, target }: Checked,
  planned: Option.Option<RecordAction>,
  isRepeated: boolean
) {
  const platform = yield* Platform
  const created = isRepeated && Option.isNone(found) ? yield* createdBefore(plan) : Option.none<string>()
  if (Option.isSome(created)) return created.value
  return yield* RecordAction.$match(Option.isSome(planned) ? planned.value : yield* decideRecord(plan, target, found), {
    Create: (action) => create(action),
    Update: ({ fields, uuid }) => Effect.as(platform.updateApplication(uuid, fields), uuid)
  })
})

/** Upsert step 5: creates the application, or updates it as planned even without differences. */
export const recordStep = makeStep("sync", {
  plan: planRecord,
  apply: (state: Checked, { decision, stage }) =>
    stage(
      Schema.String,
      (isRepeated) => applyRecord(state, decision, isRepeated),
      (uuid) => `${Option.isNone(state.found) ? "created" : "updated"} ${uuid}`
    ).pipe(
      Effect.map((uuid): Synced => ({ ...state, uuid }))
    )
})
