import type { EntryContext } from "../../schema/applications/DeclaredField.ts"
import type { PlatformRecord } from "../../schema/applications/PlatformApp.ts"
import { type RecordField, recordFields } from "../../schema/applications/recordColumns.ts"
import type { AppPlan } from "./appPlan.ts"

/** A value of a record, in a plan or on the platform. */
export type RecordValue = string | number | boolean | null | undefined

/** The field that is derived from the repository's owner, the directory and the settings. */
const repository: RecordField["name"] = "repo"

/** The value of a field that an entry does not declare. */
export const resolveDefault = ({ fallback }: RecordField, entry: EntryContext): RecordValue =>
  typeof fallback === "function" ? fallback(entry) : fallback

/** Planned value of a field; undefined if it is neither declared nor has a default. */
export const resolvePlannedValue = (field: RecordField, { entry, gitUrl }: AppPlan): RecordValue =>
  field.name === repository ? gitUrl : entry[field.name] ?? resolveDefault(field, entry)

export const isUnset = (value: RecordValue) => value === undefined || value === null || value === ""

/** Live value of a field; an unset one is replaced by the value that the platform means by it. */
export const readLiveValue = (
  { record }: RecordField,
  { entry }: { readonly entry: EntryContext },
  app: PlatformRecord
): RecordValue => {
  const value = app[record.key]
  return isUnset(value) && "absent" in record ? record.absent(entry) ?? value : value
}

const writtenFor = ({ record }: RecordField): ReadonlyArray<string> | undefined =>
  "writtenFor" in record ? record.writtenFor : undefined
const recordedFor = (field: RecordField): ReadonlyArray<string> | undefined =>
  "recordedFor" in field.record ? field.record.recordedFor : writtenFor(field)
const comparedFor = (field: RecordField): ReadonlyArray<string> | undefined =>
  "comparedFor" in field.record ? field.record.comparedFor : recordedFor(field)

const isFor = (buildPacks: ReadonlyArray<string> | undefined, buildPack: string | undefined) =>
  buildPacks === undefined || (buildPack !== undefined && buildPacks.includes(buildPack))

/** Fields in the order of drift's answer: the repository comes last. */
export const inDriftOrder: ReadonlyArray<RecordField> = [
  ...recordFields.filter(({ name }) => name !== repository),
  ...recordFields.filter(({ name }) => name === repository)
]

/** Fields that drift compares, selected by the declared build pack and not by the default one. */
export const listDriftFields = ({ entry }: { readonly entry: EntryContext }): ReadonlyArray<RecordField> =>
  inDriftOrder.filter((field) =>
    isFor(comparedFor(field), entry.buildpack) && (!("comparedIf" in field.record) || field.record.comparedIf(entry))
  )

/** True if the field is declared or has a default; others are left alone. */
export const isPlanned = (plan: AppPlan) => (field: RecordField) => resolvePlannedValue(field, plan) !== undefined

/** The fields whose changes an update records, in the order of the changelog. */
export const listUpsertFields = (plan: AppPlan): ReadonlyArray<RecordField> =>
  recordFields.filter((field) => isFor(recordedFor(field), plan.buildPack)).filter(isPlanned(plan))

/** The fields that an update writes to every application. */
export const listAlwaysWritten = (plan: AppPlan): ReadonlyArray<RecordField> =>
  recordFields.filter((field) => writtenFor(field) === undefined).filter(isPlanned(plan))

/** The fields that an update writes to applications of the plan's build pack only. */
export const listWrittenForBuildPack = (plan: AppPlan): ReadonlyArray<RecordField> =>
  recordFields.filter((field) => writtenFor(field)?.includes(plan.buildPack)).filter(isPlanned(plan))

/** The fields that an update writes, in the order of its body. */
export const listWrittenFields = (plan: AppPlan): ReadonlyArray<RecordField> => [
  ...listAlwaysWritten(plan),
  ...listWrittenForBuildPack(plan)
]

/** Recorded field by its name in `platform.json`. */
export const findField = (name: string): RecordField | undefined => recordFields.find((field) => field.name === name)
