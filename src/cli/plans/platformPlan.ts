import type { PlanChange, PlatformPlan } from "../../schema/applications/PlatformPlan.ts"
import { escapeInline } from "../terminal/safeText.ts"
import type { Surface } from "../terminal/Screen.ts"
import { makeStyler } from "../terminal/style.ts"

export const formatValue = (value: unknown): string =>
  value === null || value === undefined
    ? "nothing"
    : escapeInline(typeof value === "string" ? value : JSON.stringify(value))

const changeLine = ({ label, new: after, old: before, target }: PlanChange) =>
  `  ~ ${target} ${escapeInline(label)}: ${formatValue(before)} → ${formatValue(after)}`

/** Formats an upsert plan, one line per change. */
export const formatPlatformPlan = (plan: PlatformPlan, surface: Surface): ReadonlyArray<string> => {
  const style = makeStyler(surface)
  return [
    ...plan.changes.map((change) => style(change.old === null ? "green" : "yellow", changeLine(change))),
    ...plan.steps.filter(({ will }) => will === "change").map(({ detail, step }) =>
      style("dim", `  • ${step}: ${escapeInline(detail)}`)
    ),
    ...(plan.action === "none" ? ["  Nothing would change."] : []),
    ...(plan.stays ?? []).flatMap(({ declared, label, live, remedy }) => [
      style(
        "yellow",
        `  ≠ ${escapeInline(label)} stays different: declared ${formatValue(declared)}, live ${formatValue(live)}`
      ),
      style("yellow", `    ${escapeInline(remedy)}`)
    ]),
    ...plan.unknown.map((reason) => style("yellow", `  ? ${escapeInline(reason)}`)),
    ...plan.warnings.map((warning) => style("yellow", `  ! ${escapeInline(warning)}`))
  ]
}
