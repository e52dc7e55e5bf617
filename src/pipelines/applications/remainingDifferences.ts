import type { DriftDiff } from "../../schema/applications/Drift.ts"
import { hostPortKey } from "../../schema/applications/hostPortKey.ts"
import type { PlanChange, StayingDifference } from "../../schema/applications/PlatformPlan.ts"
import { findField } from "./fields.ts"

const changedField = ({ field }: Pick<DriftDiff, "field">): string =>
  field === "port" ? hostPortKey : field === "domain" ? "fqdn" : findField(field)?.record.key ?? field

/** Changes of an upsert in fields that drift does not compare. */
export const filterUncomparedChanges = (changes: ReadonlyArray<PlanChange>, diffs: ReadonlyArray<DriftDiff>) => {
  const compared = diffs.map(changedField)
  return changes.filter(({ field }) => !compared.includes(field))
}

const remedyOf = ({ field, label, remote }: DriftDiff): string => {
  if (field === "buildpack") return `The entry names no build pack: add "buildpack" to platform.json`
  if (field === "port") return `The entry declares no port: add "port" to it, or delete ${label}`
  if (field === "domain") {
    return `The platform serves ${String(remote)} itself, and an upsert does not take that from it: change it there`
  }
  return "Change it on the platform"
}

/** Differences that remain after an upsert, for its plan. */
export const computeRemainingDifferences = (
  diffs: ReadonlyArray<DriftDiff>,
  changes: ReadonlyArray<PlanChange>
): ReadonlyArray<StayingDifference> => {
  const changed = changes.map(({ field }) => field)
  return diffs.filter((diff) => !changed.includes(changedField(diff))).map((diff) => ({
    target: diff.field === "port" ? "variable" : "application",
    field: diff.field,
    label: diff.label,
    declared: diff.local,
    live: diff.remote,
    remedy: remedyOf(diff)
  }))
}
