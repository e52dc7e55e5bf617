import type { ChangedFile } from "../../schema/deploy/ChangedFile.ts"
import type { ReleaseImage } from "../../schema/deploy/Release.ts"
import type { ComparedService, ReleaseComparison } from "../../schema/deploy/ReleaseComparison.ts"
import type { RollbackPlan } from "../../schema/deploy/RollbackPlan.ts"
import { pluralize } from "../../schema/words/pluralize.ts"
import { formatDiff } from "../terminal/formatDiff.ts"
import { escapeInline } from "../terminal/safeText.ts"
import type { Surface } from "../terminal/Screen.ts"
import { filterChanged, formatPlanLine, formatRemarks, formatServiceChanges } from "./deployPlan.ts"

/** Lines of a file's differences: its diff, or variable names. */
const differenceLines = ({ diff = "", variables }: ChangedFile, surface: Surface): ReadonlyArray<string> => {
  const names = (words: string, all: ReadonlyArray<string>) =>
    all.length === 0 ? [] : [`${words}: ${all.map(escapeInline).join(", ")}`]
  return [
    ...variables === undefined ? [] : [
      ...names("new", variables.added),
      ...names("other values", variables.changed),
      ...names("removed", variables.removed)
    ],
    ...formatDiff(diff, surface)
  ].map((line) => `      ${line}`)
}

const fileLines = (files: ReadonlyArray<ChangedFile>, surface: Surface, { texts }: { readonly texts: boolean }) =>
  filterChanged(files).flatMap((file) => [
    formatPlanLine(surface)("file", file.name, file.change),
    ...texts ? differenceLines(file, surface) : []
  ])

/**
 * Formats the plan of a rollback, one line per change.
 * @param options `texts` adds the differences within each file
 */
export const formatRollbackPlan = (
  plan: RollbackPlan,
  surface: Surface,
  options: { readonly texts: boolean }
): ReadonlyArray<string> => {
  const lines = [...fileLines(plan.files, surface, options), ...formatServiceChanges(plan.services, surface)]
  return [...lines, ...lines.length === 0 ? ["  Nothing would change."] : [], ...formatRemarks(plan, surface)]
}

const shortIdLength = "sha256:".length + 12

const imageWords = (image: ReleaseImage | null) =>
  image === null ? "unknown image" : `${escapeInline(image.name)} (${escapeInline(image.id.slice(0, shortIdLength))})`

const imagesOf = ({ change, from, to }: ComparedService) =>
  change === "new"
    ? imageWords(to)
    : change === "removed"
    ? imageWords(from)
    : `${imageWords(from)} → ${imageWords(to)}`

/** Formats the comparison of two releases: images of services, and files with their differences. */
export const formatReleaseComparison = (
  { files, services }: ReleaseComparison,
  surface: Surface
): ReadonlyArray<string> => {
  const lines = [
    ...filterChanged(services).map((service) =>
      formatPlanLine(surface)("service", service.name, service.change, `: ${imagesOf(service)}`)
    ),
    ...fileLines(files, surface, { texts: true })
  ]
  return lines.length === 0
    ? [`  Nothing differs: the same images and the same ${pluralize(files.length, "file")}.`]
    : lines
}
