import { Data, type Option } from "effect"
import type { AppFields } from "../../services/platform/Platform.ts"
import type { AppPlan } from "../applications/appPlan.ts"
import { followUpFields, newApp, updateFields } from "../applications/changes.ts"
import { type CreateDefaults, createFields } from "../applications/createFields.ts"

/** What has to happen so that the platform has an application as it is declared. */
export type SyncAction = Data.TaggedEnum<{
  /** `followUp` is what it needs once it exists. */
  Create: { readonly fields: AppFields; readonly followUp: Option.Option<AppFields> }
  Update: { readonly uuid: string; readonly fields: AppFields }
}>
export const SyncAction = Data.taggedEnum<SyncAction>()

/** Decides how an application that is not there is created. */
export const createAction = (plan: AppPlan, defaults: CreateDefaults): SyncAction =>
  SyncAction.Create({
    fields: createFields(newApp(plan, defaults.serverUuid), defaults),
    followUp: followUpFields(plan)
  })

/** Decides how an application that is there is brought to its plan: every field is written, whether it differs or not. */
export const updateAction = (plan: AppPlan, uuid: string): SyncAction =>
  SyncAction.Update({ uuid, fields: updateFields(plan) })
