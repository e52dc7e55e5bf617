import { describePlannedBackup, type RestorePlan } from "../schema/backups.ts"
import {
  type ChangedFile,
  type ContainerPlan,
  describeBuilder,
  describeHook,
  describeImageBuild,
  describeKeptData,
  describeRollout,
  hasPlannedChanges,
  type PlannedService
} from "../schema/deploys.ts"
import type { ComparedService, ReleaseComparison, ReleaseImage, RollbackPlan } from "../schema/releases.ts"
import { describeSecret } from "../schema/secrets.ts"
import { countOmitted, type StackRemains, type StackRemovalPlan } from "../schema/stacks.ts"
import { describeProgram, listFurtherPrograms } from "../schema/trust.ts"
import { differencesIn, type Drift, type DriftPart, type PlanChange, type PlatformPlan } from "../schema/upsert.ts"
import { formatBytes, pluralize } from "../schema/words.ts"
import { escapeInline, formatDiff, formatTable, makeStyler, type Style, type Surface } from "./output.ts"

const signs: Readonly<Record<string, readonly [sign: string, style: Style]>> = {
  new: ["+", "green"],
  create: ["+", "green"],
  changed: ["~", "yellow"],
  recreate: ["~", "yellow"],
  removed: ["-", "red"],
  remove: ["-", "red"],
  gone: ["-", "red"]
}

const rolloutOf = (service: PlannedService) => escapeInline(describeRollout(service))

/** Formats a change on one line. */
const formatPlanLine = (surface: Surface) => (kind: string, name: string, change: string, more = "") => {
  const style = makeStyler(surface)
  const [sign, color] = signs[change] ?? ["?", "dim"]
  return `  ${style(color, `${sign} ${kind} ${escapeInline(name)}`)}${style("dim", more)}`
}

/** Parts that change. */
const filterChanged = <A extends { readonly change: string }>(all: ReadonlyArray<A>) =>
  all.filter(({ change }) => change !== "same" && change !== "keep")

const formatServiceChanges = (services: ReadonlyArray<PlannedService>, surface: Surface) =>
  filterChanged(services).map((service) =>
    formatPlanLine(surface)(
      "service",
      service.name,
      service.change,
      ` ${[service.change, rolloutOf(service)].filter(Boolean).join(", ")}`
    )
  )

const formatRemarks = (
  { obstacles, warnings }: Pick<ContainerPlan, "obstacles" | "warnings">,
  surface: Surface
) => [
  ...warnings.map((warning) => makeStyler(surface)("yellow", `  ! ${escapeInline(warning)}`)),
  ...obstacles.map((obstacle) => makeStyler(surface)("red", `  ✗ ${escapeInline(obstacle)}`))
]

/** Formats the call of compose, unless it is called with one file alone. */
const formatCompose = ({ compose }: ContainerPlan): ReadonlyArray<string> => {
  if (compose === undefined) return []
  const { envFiles, files, fromEnv, profiles } = compose
  const parts = [
    ...files.length > 1 ? [files.join(" + ")] : [],
    ...profiles.length > 0 ? [`profiles ${profiles.join(", ")}`] : [],
    ...envFiles.length > 0 ? [`variables of ${envFiles.join(" + ")}`] : [],
    ...fromEnv.length > 0 ? [`${fromEnv.join(", ")} of .env`] : []
  ]
  return parts.length === 0 ? [] : [`  compose: ${escapeInline(parts.join("; "))}`]
}

/** Formats a deploy plan, one line per change. */
export const formatDeployPlan = (plan: ContainerPlan, surface: Surface): ReadonlyArray<string> => {
  const style = makeStyler(surface)
  const line = formatPlanLine(surface)
  const size = (count: number) => (count === 0 ? "" : ` (${formatBytes(count)})`)
  const kept = plan.files.filter(({ change }) => change === "same").length +
    plan.images.filter(({ change }) => change === "same").length
  const places = new Map((plan.references ?? []).map(({ at, path }) => [path, ` ${at}`]))
  return [
    ...filterChanged(plan.files).map(({ bytes, change, name }) =>
      line("file", name, change, size(bytes) + escapeInline(places.get(name) ?? ""))
    ),
    ...filterChanged(plan.images).map((image) => {
      const built = describeImageBuild(image)
      return line("image", image.name, image.change, size(image.bytesToSend) + (built && ` ${escapeInline(built)}`))
    }),
    ...filterChanged(plan.secrets ?? []).map((secret) =>
      line("secret", secret.name, secret.change, ` ${escapeInline(describeSecret(secret))}`)
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
    ...[...formatCompose(plan), ...describeKeptData(plan.references).map((kept) => `  = ${escapeInline(kept)}`)].map((
      text
    ) => style("dim", text)),
    ...(plan.backups ?? []).map((backup) => `  > backup of ${escapeInline(describePlannedBackup(backup))}`),
    ...(plan.hooks ?? []).map((hook) => `  > ${escapeInline(describeHook(hook))}`),
    ...describeBuilder(plan).map((text) => style("dim", `  > ${escapeInline(text)}`)),
    ...listFurtherPrograms(plan.programs).map((program) =>
      style("dim", `  > here: ${escapeInline(describeProgram(program))}`)
    ),
    ...formatRemarks(plan, surface)
  ]
}

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
  const { backups = [], restore } = plan
  return [
    ...lines,
    ...lines.length === 0 ? ["  Nothing would change."] : [],
    ...backups.map((backup) => `  > backup of ${escapeInline(describePlannedBackup(backup))}`),
    ...restore === undefined ? [] : formatRestore(restore),
    ...formatRemarks(plan, surface)
  ]
}

/** Formats what a restore puts back, stops and loses. */
export const formatRestore = (
  { backup, items, lost, stops, warnings }: Omit<RestorePlan, "planHash">
): ReadonlyArray<string> => [
  ...items.map(({ bytes, name }) =>
    `  ~ ${escapeInline(name)} of backup ${escapeInline(backup.id)}, ${formatBytes(bytes)}`
  ),
  `  What was written after ${escapeInline(lost.since)} is replaced, and kept as another backup.`,
  ...stops.length === 0 ? [] : [`  Stopped meanwhile: ${stops.map(escapeInline).join(", ")}`],
  ...warnings.map((warning) => `  ! ${escapeInline(warning)}`)
]

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

const mostShown = 20

/** Lines of a list, at most 20, with the number of the others. */
const cutLines = (lines: ReadonlyArray<string>, further: number): ReadonlyArray<string> => {
  const others = Math.max(0, lines.length - mostShown) + further
  return [...lines.slice(0, mostShown), ...others === 0 ? [] : [`    and ${others} more`]]
}

/** Formats one line for each object that stays on the server. */
export const formatRemains = (stays: ReadonlyArray<StackRemains>): ReadonlyArray<string> =>
  stays.map(({ because, kind, name }) =>
    `  = ${kind} ${escapeInline(name)}${kind === "directory" ? "/" : ""} stays: ${escapeInline(because)}`
  )

/** Formats the plan of a stack's removal: releases and backups first, and at the end the objects that stay. */
export const formatRemoval = (plan: StackRemovalPlan): ReadonlyArray<string> => {
  const further = (list: string) => countOmitted(plan, list)
  const named = (noun: string, list: "containers" | "files" | "images" | "volumes") =>
    cutLines(plan[list].map((name) => `  - ${noun} ${escapeInline(name)}`), further(list))
  return [
    ...cutLines(
      plan.releases.map(({ at, id }) => `  - release ${escapeInline(id)}, deployed ${escapeInline(at)}`),
      further("releases")
    ),
    ...cutLines(
      plan.backups.map(({ bytes, id, items, takenAt }) =>
        `  - backup ${escapeInline(id)} of ${items.map(escapeInline).join(", ")}, taken ${escapeInline(takenAt)}, ${
          formatBytes(bytes)
        }`
      ),
      further("backups")
    ),
    ...named("container", "containers"),
    ...named("file", "files"),
    ...named("image", "images"),
    ...named("volume", "volumes"),
    ...cutLines(formatRemains(plan.stays), further("stays"))
  ]
}
