import type { ChangedFile } from "../../schema/deploy/ChangedFile.ts"
import type { ReleaseImage } from "../../schema/deploy/Release.ts"
import type { ComparedService, ReleaseComparison } from "../../schema/deploy/ReleaseComparison.ts"
import type { RollbackPlan } from "../../schema/deploy/RollbackPlan.ts"
import { counted } from "../../schema/words/counted.ts"
import { diffLines } from "../terminal/diffLines.ts"
import { safeText } from "../terminal/safeText.ts"
import type { Surface } from "../terminal/Screen.ts"
import { changing, planLine, remarkLines, serviceLines } from "./deployPlan.ts"

/** Lines of what differs in a file: its diff, or the names of variables. */
const differenceLines = ({ diff = "", variables }: ChangedFile, surface: Surface): ReadonlyArray<string> => {
  const names = (words: string, all: ReadonlyArray<string>) =>
    all.length === 0 ? [] : [`${words}: ${all.map(safeText).join(", ")}`]
  return [
    ...variables === undefined ? [] : [
      ...names("new", variables.added),
      ...names("other values", variables.changed),
      ...names("removed", variables.removed)
    ],
    ...diffLines(diff, surface)
  ].map((line) => `      ${line}`)
}

const fileLines = (files: ReadonlyArray<ChangedFile>, surface: Surface, { texts }: { readonly texts: boolean }) =>
  changing(files).flatMap((file) => [
    planLine(surface)("file", file.name, file.change),
    ...texts ? differenceLines(file, surface) : []
  ])

/**
 * Formats the plan of a rollback, one line per change.
 * @param options `texts` adds what differs in each file
 */
export const rollbackPlanLines = (
  plan: RollbackPlan,
  surface: Surface,
  options: { readonly texts: boolean }
): ReadonlyArray<string> => {
  const lines = [...fileLines(plan.files, surface, options), ...serviceLines(plan.services, surface)]
  return [...lines, ...lines.length === 0 ? ["  Nothing would change."] : [], ...remarkLines(plan, surface)]
}

const shortIdLength = "sha256:".length + 12

const imageWords = (image: ReleaseImage | null) =>
  image === null ? "unknown image" : `${safeText(image.name)} (${safeText(image.id.slice(0, shortIdLength))})`

const imagesOf = ({ change, from, to }: ComparedService) =>
  change === "new"
    ? imageWords(to)
    : change === "removed"
    ? imageWords(from)
    : `${imageWords(from)} → ${imageWords(to)}`

/** Formats the difference of two releases: images of services, and files with what differs in them. */
export const releaseComparisonLines = (
  { files, services }: ReleaseComparison,
  surface: Surface
): ReadonlyArray<string> => {
  const lines = [
    ...changing(services).map((service) =>
      planLine(surface)("service", service.name, service.change, `: ${imagesOf(service)}`)
    ),
    ...fileLines(files, surface, { texts: true })
  ]
  return lines.length === 0
    ? [`  Nothing differs: the same images and the same ${counted(files.length, "file")}.`]
    : lines
}
