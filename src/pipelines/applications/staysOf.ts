import type { DriftDiff } from "../../schema/Drift.ts"
import type { PlanChange, StayingDifference } from "../../schema/PlatformPlan.ts"
import { buildFields, servingFields } from "./fields.ts"
import { hostPortKey } from "./hostPort.ts"

const recordFields = new Map<string, string>(
  Object.values(buildFields).map(({ name, record }): readonly [string, string] => [name, record])
)

const changedField = ({ field }: Pick<DriftDiff, "field">): string =>
  field === servingFields.port.name
    ? hostPortKey
    : field === servingFields.domain.name
    ? "fqdn"
    : recordFields.get(field) ?? field

/** The changes of an upsert that are of none of the fields that drift compares. */
export const changesBeside = (changes: ReadonlyArray<PlanChange>, diffs: ReadonlyArray<DriftDiff>) => {
  const compared = diffs.map(changedField)
  return changes.filter(({ field }) => !compared.includes(field))
}

const remedyOf = ({ field, label, remote }: DriftDiff): string => {
  if (field === buildFields.buildPack.name) return `The entry names no build pack: add "buildpack" to platform.json`
  if (field === servingFields.port.name) return `The entry declares no port: add "port" to it, or delete ${label}`
  if (field === servingFields.domain.name) {
    return `The platform serves ${String(remote)} itself, and an upsert does not take that from it: change it there`
  }
  return "Change it on the platform"
}

/** The differences that an upsert leaves, as a plan tells them. */
export const staysOf = (
  diffs: ReadonlyArray<DriftDiff>,
  changes: ReadonlyArray<PlanChange>
): ReadonlyArray<StayingDifference> => {
  const changed = changes.map(({ field }) => field)
  return diffs.filter((diff) => !changed.includes(changedField(diff))).map((diff) => ({
    target: diff.field === servingFields.port.name ? "variable" : "application",
    field: diff.field,
    label: diff.label,
    declared: diff.local,
    live: diff.remote,
    remedy: remedyOf(diff)
  }))
}
