import type { PlanChange, PlatformPlan } from "../../schema/applications/PlatformPlan.ts"
import { safeText } from "../terminal/safeText.ts"
import type { Surface } from "../terminal/Screen.ts"
import { styled } from "../terminal/style.ts"

export const formatValue = (value: unknown): string =>
  value === null || value === undefined
    ? "nothing"
    : safeText(typeof value === "string" ? value : JSON.stringify(value))

const changeLine = ({ label, new: after, old: before, target }: PlanChange) =>
  `  ~ ${target} ${safeText(label)}: ${formatValue(before)} → ${formatValue(after)}`

/** Formats an upsert plan, one line per change. */
export const platformPlanLines = (plan: PlatformPlan, surface: Surface): ReadonlyArray<string> => {
  const style = styled(surface)
  return [
    ...plan.changes.map((change) => style(change.old === null ? "green" : "yellow", changeLine(change))),
    ...plan.steps.filter(({ will }) => will === "change").map(({ detail, step }) =>
      style("dim", `  • ${step}: ${safeText(detail)}`)
    ),
    ...(plan.action === "none" ? ["  Nothing would change."] : []),
    ...(plan.stays ?? []).flatMap(({ declared, label, live, remedy }) => [
      style(
        "yellow",
        `  ≠ ${safeText(label)} stays different: declared ${formatValue(declared)}, live ${formatValue(live)}`
      ),
      style("yellow", `    ${safeText(remedy)}`)
    ]),
    ...plan.unknown.map((reason) => style("yellow", `  ? ${safeText(reason)}`)),
    ...plan.warnings.map((warning) => style("yellow", `  ! ${safeText(warning)}`))
  ]
}
