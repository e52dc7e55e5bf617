import { Option } from "effect"
import type { Change } from "../../schema/applications/Changelog.ts"
import { exposedPorts, publishDefaults } from "../../schema/applications/declaredFields.ts"
import type { PlatformRecord } from "../../schema/applications/PlatformApp.ts"
import type { RecordField } from "../../schema/applications/recordColumns.ts"
import type { AppFields } from "../../services/platform/Platform.ts"
import type { AppPlan } from "./appPlan.ts"
import { buildCreateFields, type CreateDefaults, requestedKeys } from "./buildCreateFields.ts"
import {
  listAlwaysWritten,
  listUpsertFields,
  listWrittenFields,
  listWrittenForBuildPack,
  readLiveValue,
  resolvePlannedValue
} from "./fields.ts"

const valuesOf = (plan: AppPlan, fields: ReadonlyArray<RecordField>): AppFields =>
  Object.fromEntries(fields.map((field) => [field.record.key, resolvePlannedValue(field, plan)]))

/** Fields to update on an existing application, in the order of the platform's call. */
export const buildUpdateFields = (plan: AppPlan): AppFields => ({
  ...valuesOf(plan, listAlwaysWritten(plan)),
  [exposedPorts.key]: exposedPorts.value,
  ...valuesOf(plan, listWrittenForBuildPack(plan))
})

/** Fields to create an application with: those of a request, and other declared ones. */
export const buildDeclaredCreateFields = (plan: AppPlan, defaults: CreateDefaults): AppFields => {
  const { branch, entry, gitUrl, name } = plan
  return {
    ...valuesOf(plan, listWrittenFields(plan).filter(({ record }) => !requestedKeys.includes(record.key))),
    ...buildCreateFields({
      name,
      buildpack: plan.buildPack,
      gitRepo: gitUrl,
      gitBranch: branch,
      isStatic: entry.static,
      publishDir: entry.publishDir,
      baseDirectory: entry.baseDirectory,
      composeLocation: entry.composeLocation
    }, defaults)
  }
}

/** Fields to write after an application is created, if there are any. */
export const followUpFields = (plan: AppPlan): Option.Option<AppFields> => {
  const { publishDir = publishDefaults.followUp, static: isStatic } = plan.entry
  const fields = {
    ...(isStatic === true ? { is_static: true, publish_directory: publishDir } : {}),
    ...(plan.buildPack === "composestack" ? {} : { domains: "" })
  }
  return Object.keys(fields).length === 0 ? Option.none() : Option.some(fields)
}

/** The differences between an application and its plan, in some fields. */
export const compareFields = (
  fields: ReadonlyArray<RecordField>,
  plan: AppPlan,
  app: PlatformRecord
): ReadonlyArray<Change> =>
  fields.flatMap((field) => {
    const next = resolvePlannedValue(field, plan)
    return readLiveValue(field, plan, app) === next
      ? []
      : [{ field: field.record.key, label: field.label, old: app[field.record.key] ?? null, new: next }]
  })

/** Changes that an update makes to an application's build. */
export const computeBuildChanges = (plan: AppPlan, app: PlatformRecord): ReadonlyArray<Change> =>
  compareFields(listUpsertFields(plan), plan, app)
