import type { ContainerPlan, PlannedService } from "../../schema/deploy/ContainerPlan.ts"
import { describeHook } from "../../schema/deploy/describeHook.ts"
import { describeRollout } from "../../schema/deploy/describeRollout.ts"
import { counted } from "../../schema/words/counted.ts"
import { formatBytes } from "../../schema/words/formatBytes.ts"
import { safeText } from "../terminal/safeText.ts"
import type { Surface } from "../terminal/Screen.ts"
import { type Style, styled } from "../terminal/style.ts"

const signs: Readonly<Record<string, readonly [sign: string, style: Style]>> = {
  new: ["+", "green"],
  create: ["+", "green"],
  changed: ["~", "yellow"],
  recreate: ["~", "yellow"],
  removed: ["-", "red"],
  remove: ["-", "red"]
}

const rolloutOf = (service: PlannedService) => safeText(describeRollout(service))

/** Formats a change on one line. */
export const planLine = (surface: Surface) => (kind: string, name: string, change: string, more = "") => {
  const style = styled(surface)
  const [sign, color] = signs[change] ?? ["?", "dim"]
  return `  ${style(color, `${sign} ${kind} ${safeText(name)}`)}${style("dim", more)}`
}

/** Parts that change. */
export const changing = <A extends { readonly change: string }>(all: ReadonlyArray<A>) =>
  all.filter(({ change }) => change !== "same" && change !== "keep")

export const serviceLines = (services: ReadonlyArray<PlannedService>, surface: Surface) =>
  changing(services).map((service) =>
    planLine(surface)(
      "service",
      service.name,
      service.change,
      ` ${[service.change, rolloutOf(service)].filter(Boolean).join(", ")}`
    )
  )

export const remarkLines = (
  { obstacles, warnings }: Pick<ContainerPlan, "obstacles" | "warnings">,
  surface: Surface
) => [
  ...warnings.map((warning) => styled(surface)("yellow", `  ! ${safeText(warning)}`)),
  ...obstacles.map((obstacle) => styled(surface)("red", `  ✗ ${safeText(obstacle)}`))
]

export const changesAnything = ({ files, images, services }: ContainerPlan): boolean =>
  [...files, ...images].some(({ change }) => change !== "same") || services.some(({ change }) => change !== "keep")

/** Formats a deploy plan, one line per change. */
export const deployPlanLines = (plan: ContainerPlan, surface: Surface): ReadonlyArray<string> => {
  const style = styled(surface)
  const line = planLine(surface)
  const size = (count: number) => (count === 0 ? "" : ` (${formatBytes(count)})`)
  const kept = plan.files.filter(({ change }) => change === "same").length +
    plan.images.filter(({ change }) => change === "same").length
  return [
    ...changing(plan.files).map(({ bytes, change, name }) => line("file", name, change, size(bytes))),
    ...changing(plan.images).map(({ bytesToSend, change, name }) => line("image", name, change, size(bytesToSend))),
    ...serviceLines(plan.services, surface),
    ...(changesAnything(plan)
      ? [
        style(
          "dim",
          `  ${formatBytes(plan.bytesToSend)} to send of ${formatBytes(plan.bytesTotal)}` +
            (kept === 0 ? "" : `; ${counted(kept, "file or image", "files and images")} unchanged`)
        )
      ]
      : ["  Nothing would change."]),
    ...(plan.hooks ?? []).map((hook) => `  > ${safeText(describeHook(hook))}`),
    ...remarkLines(plan, surface)
  ]
}
