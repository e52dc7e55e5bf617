import type { PlanChange, PlatformPlan } from "../../schema/PlatformPlan.ts"
import { safeText } from "../terminal/safeText.ts"
import type { Surface } from "../terminal/Screen.ts"
import { styled } from "../terminal/style.ts"

/** A value as a plan shows it. */
export const shownValue = (value: unknown): string =>
  value === null || value === undefined
    ? "nothing"
    : safeText(typeof value === "string" ? value : JSON.stringify(value))

const changeLine = ({ label, new: after, old: before, target }: PlanChange) =>
  `  ~ ${target} ${safeText(label)}: ${shownValue(before)} → ${shownValue(after)}`

/** What an upsert would do, a line for each thing that changes. */
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
        `  ≠ ${safeText(label)} stays different: declared ${shownValue(declared)}, live ${shownValue(live)}`
      ),
      style("yellow", `    ${safeText(remedy)}`)
    ]),
    ...plan.unknown.map((reason) => style("yellow", `  ? ${safeText(reason)}`)),
    ...plan.warnings.map((warning) => style("yellow", `  ! ${safeText(warning)}`))
  ]
}
