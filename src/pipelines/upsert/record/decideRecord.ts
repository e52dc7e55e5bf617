import { Data, Effect, Option } from "effect"
import type { SettingsError } from "../../../schema/Settings.ts"
import type { AppFields } from "../../../services/platform/Platform.ts"
import type { Settings } from "../../../services/settings/Settings.ts"
import { readCreateDefaults } from "../../applications/applications.ts"
import type { AppPlan } from "../../applications/appPlan.ts"
import type { CreateDefaults } from "../../applications/buildCreateFields.ts"
import { buildDeclaredCreateFields, buildUpdateFields, followUpFields } from "../../applications/changes.ts"
import type { PlatformTarget } from "../inputs/target.ts"

/** Action that brings an application's record to its declaration. */
export type RecordAction = Data.TaggedEnum<{
  /** `followUp` is written once the application exists. */
  Create: { readonly fields: AppFields; readonly followUp: Option.Option<AppFields> }
  Update: { readonly uuid: string; readonly fields: AppFields }
}>
export const RecordAction = Data.taggedEnum<RecordAction>()

/** Decides how a new application is created. */
const createAction = (plan: AppPlan, defaults: CreateDefaults): RecordAction =>
  RecordAction.Create({
    fields: buildDeclaredCreateFields(plan, defaults),
    followUp: followUpFields(plan)
  })

/** Decides the update of an existing application, which writes every field even if unchanged. */
const updateAction = (plan: AppPlan, uuid: string): RecordAction =>
  RecordAction.Update({ uuid, fields: buildUpdateFields(plan) })

/** Decides upsert step 5; reads the settings' defaults only for a new application. */
export const decideRecord = (
  plan: AppPlan,
  { serverUuid }: PlatformTarget,
  found: Option.Option<string>
): Effect.Effect<RecordAction, SettingsError, Settings> =>
  Option.match(found, {
    onNone: () => Effect.map(readCreateDefaults(serverUuid), (defaults) => createAction(plan, defaults)),
    onSome: (uuid) => Effect.succeed(updateAction(plan, uuid))
  })
