import type { ContainerPlan, PlannedService } from "../../schema/deploy/ContainerPlan.ts"
import { describeHook } from "../../schema/deploy/describeHook.ts"
import { describeRollout } from "../../schema/deploy/describeRollout.ts"
import { formatBytes } from "../../schema/words/formatBytes.ts"
import { pluralize } from "../../schema/words/pluralize.ts"
import { escapeInline } from "../terminal/safeText.ts"
import type { Surface } from "../terminal/Screen.ts"
import { makeStyler, type Style } from "../terminal/style.ts"

const signs: Readonly<Record<string, readonly [sign: string, style: Style]>> = {
  new: ["+", "green"],
  create: ["+", "green"],
  changed: ["~", "yellow"],
  recreate: ["~", "yellow"],
  removed: ["-", "red"],
  remove: ["-", "red"]
}

const rolloutOf = (service: PlannedService) => escapeInline(describeRollout(service))

/** Formats a change on one line. */
export const formatPlanLine = (surface: Surface) => (kind: string, name: string, change: string, more = "") => {
  const style = makeStyler(surface)
  const [sign, color] = signs[change] ?? ["?", "dim"]
  return `  ${style(color, `${sign} ${kind} ${escapeInline(name)}`)}${style("dim", more)}`
}

/** Parts that change. */
export const filterChanged = <A extends { readonly change: string }>(all: ReadonlyArray<A>) =>
  all.filter(({ change }) => change !== "same" && change !== "keep")

export const formatServiceChanges = (services: ReadonlyArray<PlannedService>, surface: Surface) =>
  filterChanged(services).map((service) =>
    formatPlanLine(surface)(
      "service",
      service.name,
      service.change,
      ` ${[service.change, rolloutOf(service)].filter(Boolean).join(", ")}`
    )
  )

export const formatRemarks = (
  { obstacles, warnings }: Pick<ContainerPlan, "obstacles" | "warnings">,
  surface: Surface
) => [
  ...warnings.map((warning) => makeStyler(surface)("yellow", `  ! ${escapeInline(warning)}`)),
  ...obstacles.map((obstacle) => makeStyler(surface)("red", `  ✗ ${escapeInline(obstacle)}`))
]

export const hasPlannedChanges = ({ files, images, services }: ContainerPlan): boolean =>
  [...files, ...images].some(({ change }) => change !== "same") || services.some(({ change }) => change !== "keep")

/** Formats a deploy plan, one line per change. */
export const formatDeployPlan = (plan: ContainerPlan, surface: Surface): ReadonlyArray<string> => {
  const style = makeStyler(surface)
  const line = formatPlanLine(surface)
  const size = (count: number) => (count === 0 ? "" : ` (${formatBytes(count)})`)
  const kept = plan.files.filter(({ change }) => change === "same").length +
    plan.images.filter(({ change }) => change === "same").length
  return [
    ...filterChanged(plan.files).map(({ bytes, change, name }) => line("file", name, change, size(bytes))),
    ...filterChanged(plan.images).map(({ bytesToSend, change, name }) =>
      line("image", name, change, size(bytesToSend))
    ),
    ...formatServiceChanges(plan.services, surface),
    ...(hasPlannedChanges(plan)
      ? [
        style(
          "dim",
          `  ${formatBytes(plan.bytesToSend)} to send of ${formatBytes(plan.bytesTotal)}` +
            (kept === 0 ? "" : `; ${pluralize(kept, "file or image", "files and images")} unchanged`)
        )
      ]
      : ["  Nothing would change."]),
    ...(plan.hooks ?? []).map((hook) => `  > ${escapeInline(describeHook(hook))}`),
    ...formatRemarks(plan, surface)
  ]
}
