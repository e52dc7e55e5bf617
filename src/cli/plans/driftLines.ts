import { differencesIn, type Drift, type DriftPart } from "../../schema/Drift.ts"
import { counted } from "../terminal/quantities.ts"
import { safeText } from "../terminal/safeText.ts"
import type { Surface } from "../terminal/Screen.ts"
import { table } from "../terminal/table.ts"
import { shownValue } from "./platformPlan.ts"

type Differences = Pick<Drift, "diffs" | "routes" | "hook" | "others" | "unknown">

const beside = ({ hook = [], others = [], routes = [] }: Differences): ReadonlyArray<DriftPart> => [
  ...routes,
  ...hook,
  ...others
]

/** Every difference of an application as a table; nothing where it has none. */
export const driftTable = (drift: Differences, surface: Surface): string | undefined => {
  const rows = [
    ...drift.diffs.map(({ applied, changed, label, local, remote }) => [
      label,
      shownValue(local),
      shownValue(remote),
      applied === undefined ? "" : shownValue(applied),
      changed ?? ""
    ]),
    ...beside(drift).map(({ label, local, remote }) => [label, shownValue(local), shownValue(remote), "", ""])
  ]
  return rows.length === 0 ? undefined : table(["FIELD", "DECLARED", "LIVE", "APPLIED", "CHANGED"], rows, surface)
}

/** What to do about differences that no upsert ends. */
export const remedies = (drift: Differences): ReadonlyArray<string> =>
  beside(drift).flatMap(({ label, remedy }) => remedy === undefined ? [] : [`! ${safeText(`${label}: ${remedy}`)}`])

/** What cannot be compared, and why. */
export const unknowns = ({ unknown = [] }: Differences): ReadonlyArray<string> =>
  unknown.map(({ label, reason }) => `? ${safeText(`${label}: ${reason}`)}`)

/** In one sentence whether an application is as declared. */
export const verdict = (drift: Differences): string => {
  const count = differencesIn(drift)
  if (count > 0) return `${counted(count, "difference")}.`
  return (drift.unknown ?? []).length === 0 ? "Nothing differs." : "Nothing differs, as far as it can be read."
}
