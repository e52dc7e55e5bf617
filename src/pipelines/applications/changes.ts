import { Option } from "effect"
import { appDefaults, publishDefaults } from "../../schema/AppDefaults.ts"
import type { Change } from "../../schema/Changelog.ts"
import type { PlatformRecord } from "../../schema/PlatformApp.ts"
import type { AppFields } from "../../services/platform/Platform.ts"
import type { AppPlan } from "./appPlan.ts"
import type { NewApp } from "./createFields.ts"
import { type AppField, buildFields, comparedInUpsert, writtenFields } from "./fields.ts"

/** The fields that an existing application is brought to, in the order of the platform's call. */
export const updateFields = (plan: AppPlan): AppFields => {
  const { compose_location: composeLocation, ...others } = Object.fromEntries(
    writtenFields(plan).map(({ declared, record }) => [record, declared(plan)])
  )
  return {
    ...others,
    ports_exposes: appDefaults.portsExposes,
    ...(composeLocation === undefined ? {} : { compose_location: composeLocation })
  }
}

/** What a new application is asked for as. */
export const newApp = (plan: AppPlan, serverUuid: string): NewApp => ({
  name: plan.name,
  buildpack: plan.buildPack,
  gitRepo: plan.gitUrl,
  gitBranch: plan.branch,
  isStatic: plan.isStatic,
  publishDir: Option.getOrUndefined(plan.publishDir),
  baseDirectory: plan.baseDirectory,
  composeLocation: plan.composeLocation,
  serverUuid
})

/** What a new application needs once it exists; nothing when there is nothing to follow up. */
export const followUpFields = (plan: AppPlan): Option.Option<AppFields> => {
  const fields = {
    ...(plan.isStatic
      ? { is_static: true, publish_directory: Option.getOrElse(plan.publishDir, () => publishDefaults.followUp) }
      : {}),
    ...(plan.buildPack === "composestack" ? {} : { domains: "" })
  }
  return Object.keys(fields).length === 0 ? Option.none() : Option.some(fields)
}

// What a platform that leaves a field out means by it.
const unsaid = (field: AppField, plan: AppPlan): unknown => {
  if (field === buildFields.isStatic) return false
  return field === buildFields.publishDir && !plan.isStatic ? publishDefaults.other : undefined
}

const isUnset = (value: unknown) => value === undefined || value === null || value === ""

/** In which of some fields an application is not what its plan says. */
export const differences = (
  fields: ReadonlyArray<AppField>,
  plan: AppPlan,
  app: PlatformRecord
): ReadonlyArray<Change> =>
  fields.flatMap((field) => {
    const old = app[field.record]
    const next = field.declared(plan)
    const now = isUnset(old) ? unsaid(field, plan) : old
    return now === next
      ? []
      : [{ field: field.record, label: field.label, old: old ?? null, new: next }]
  })

/** What an update will change of an application's build. */
export const changesOf = (plan: AppPlan, app: PlatformRecord): ReadonlyArray<Change> =>
  differences(comparedInUpsert(plan), plan, app)
