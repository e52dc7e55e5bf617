import { differencesIn, type Drift, type DriftPart } from "../../schema/applications/Drift.ts"
import { pluralize } from "../../schema/words/pluralize.ts"
import { formatTable } from "../terminal/formatTable.ts"
import { escapeInline } from "../terminal/safeText.ts"
import type { Surface } from "../terminal/Screen.ts"
import { formatValue } from "./platformPlan.ts"

type Differences = Pick<Drift, "diffs" | "routes" | "hook" | "others" | "unknown">

const beside = ({ hook = [], others = [], routes = [] }: Differences): ReadonlyArray<DriftPart> => [
  ...routes,
  ...hook,
  ...others
]

/** Formats the differences of an application as a table, if there are any. */
export const formatDriftTable = (drift: Differences, surface: Surface): string | undefined => {
  const rows = [
    ...drift.diffs.map(({ applied, changed, label, local, remote }) => [
      label,
      formatValue(local),
      formatValue(remote),
      applied === undefined ? "" : formatValue(applied),
      changed ?? ""
    ]),
    ...beside(drift).map(({ label, local, remote }) => [label, formatValue(local), formatValue(remote), "", ""])
  ]
  return rows.length === 0 ? undefined : formatTable(["FIELD", "DECLARED", "LIVE", "APPLIED", "CHANGED"], rows, surface)
}

/** Remedies for differences that upserts do not resolve. */
export const formatRemedies = (drift: Differences): ReadonlyArray<string> =>
  beside(drift).flatMap(({ label, remedy }) => remedy === undefined ? [] : [`! ${escapeInline(`${label}: ${remedy}`)}`])

/** Fields that cannot be compared, with the reason. */
export const formatUnknownFields = ({ unknown = [] }: Differences): ReadonlyArray<string> =>
  unknown.map(({ label, reason }) => `? ${escapeInline(`${label}: ${reason}`)}`)

/** Summarizes the drift in one sentence. */
export const describeDrift = (drift: Differences): string => {
  const count = differencesIn(drift)
  if (count > 0) return `${pluralize(count, "difference")}.`
  return (drift.unknown ?? []).length === 0 ? "Nothing differs." : "Nothing differs, as far as it can be read."
}
