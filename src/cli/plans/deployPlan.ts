import type { ContainerPlan } from "../../schema/ContainerPlan.ts"
import { bytes, counted } from "../terminal/quantities.ts"
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

/** Whether a deploy would change anything. */
export const changesAnything = ({ files, images, services }: ContainerPlan): boolean =>
  [...files, ...images].some(({ change }) => change !== "same") || services.some(({ change }) => change !== "keep")

/** What a deploy would do, a line for each thing that changes. */
export const deployPlanLines = (plan: ContainerPlan, surface: Surface): ReadonlyArray<string> => {
  const style = styled(surface)
  const line = (kind: string, name: string, change: string, more = "") => {
    const [sign, color] = signs[change] ?? ["?", "dim"]
    return `  ${style(color, `${sign} ${kind} ${safeText(name)}`)}${style("dim", more)}`
  }
  const changing = <A extends { readonly change: string }>(all: ReadonlyArray<A>) =>
    all.filter(({ change }) => change !== "same" && change !== "keep")
  const size = (count: number) => (count === 0 ? "" : ` (${bytes(count)})`)
  const kept = plan.files.filter(({ change }) => change === "same").length +
    plan.images.filter(({ change }) => change === "same").length
  return [
    ...changing(plan.files).map(({ bytes, change, name }) => line("file", name, change, size(bytes))),
    ...changing(plan.images).map(({ bytesToSend, change, name }) => line("image", name, change, size(bytesToSend))),
    ...changing(plan.services).map(({ change, name }) => line("service", name, change, ` ${change}`)),
    ...(changesAnything(plan)
      ? [
        style(
          "dim",
          `  ${bytes(plan.bytesToSend)} to send of ${bytes(plan.bytesTotal)}` +
            (kept === 0 ? "" : `; ${counted(kept, "file or image", "files and images")} unchanged`)
        )
      ]
      : ["  Nothing would change."]),
    ...plan.warnings.map((warning) => style("yellow", `  ! ${safeText(warning)}`)),
    ...plan.obstacles.map((obstacle) => style("red", `  ✗ ${safeText(obstacle)}`))
  ]
}
