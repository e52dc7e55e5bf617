import { Array } from "effect"
import { parseForeignContainers } from "../../remote/deploy.ts"
import { ComposeDiffers, DeployFailed } from "../../schema/deploys.ts"
import type { ComposeFile } from "../projects/compose.ts"
import { isInside } from "../projects/compose/composeSources.ts"
import type { FoundReference } from "../projects/deployFiles.ts"
import { describeForeignContainers } from "../projects/stackNames.ts"

// Own reading of compose files is for the plan; the server's Compose decides. An activation compares both before it
// starts anything: here is what it expects, and what a difference means.

/** Step at which an activation reports that the server's Compose refuses the files, or reads them otherwise. */
export const compareStep = "config"

/** Services, images and paths that a plan was made of. */
interface PlannedCompose {
  readonly compose: ComposeFile
  readonly references: ReadonlyArray<FoundReference>
}

const whenActive = (isActive: boolean) => isActive ? "runs" : "rests"

/**
 * Lines of what the server's Compose has to make of the files: services, whether one of their profiles is active, their
 * images, and the paths of the project that they need; and the files that Compose reads for it. Undefined for a project
 * whose label file lies outside of it, as the files are compared in a directory of their own.
 */
export const listExpectedCompose = ({ compose, references }: PlannedCompose): ReadonlyArray<string> | undefined => {
  const labels = references.filter(({ kind }) => kind === "label").map(({ path }) => path)
  if (!labels.every(isInside)) return undefined
  const active = new Set(compose.services.flatMap(({ isInactive, name }) => isInactive === true ? [] : [name]))
  const inside = references.filter(({ path }) => isInside(path))
  const read = [
    ...compose.fileNames,
    ...compose.sources.map(({ name }) => name),
    ...compose.named.map(({ name }) => name),
    ...compose.variableFiles,
    ...labels,
    ".env"
  ]
  const lines = [
    ...compose.services.map(({ name }) => `service\t${whenActive(active.has(name))}\t${name}`),
    ...compose.services.flatMap(({ image, name }) => image === undefined ? [] : [`image\t${name}\t${image}`]),
    ...inside.flatMap(({ path, services }) => services.map((service) => `mount\t${service}\t${path}`)),
    ...inside.map(({ path }) => `file\t${path}`),
    ...inside.filter(({ kind, services }) => kind !== "label" && services.length > 0).map(({ path, services }) =>
      `needed\t${whenActive(services.some((service) => active.has(service)))}\t${path}`
    ),
    ...Array.dedupe(read.filter(isInside)).map((name) => `read\t${name}`),
    ...Array.dedupe(compose.services.flatMap(({ buildContext }) => buildContext ?? [])).filter(isInside)
      .map((name) => `context\t${name}`)
  ]
  // A line break in a name would begin another line; Compose takes none in those of services and images.
  // oxlint-disable-next-line no-control-regex
  return lines.some((line) => /[\u0000-\u0008\u000a-\u001f\u007f]/.test(line)) ? undefined : lines
}

/** A difference in words; undefined for a line of another kind. */
const describeDifference = (line: string): string | undefined => {
  const [label, kind, one = "", two = "", three = ""] = line.split("\t")
  if (label !== "differs") return undefined
  switch (kind) {
    case "added":
      return `it has the service ${one}, which the plan does not have`
    case "missing":
      return `it does not have the service ${one}`
    case "image":
      return `the image of ${one} is ${two}, and ${three} in the plan`
    case "mount":
      return `${one} mounts ${two}, which the plan does not bring for it`
    case "file":
      return `a config or secret is the file ${one}, which the plan does not bring`
    case "unused":
      return `no service uses ${one}`
    default:
      return undefined
  }
}

/**
 * Error of an activation that ended before its start, as the server's Compose refuses the files or reads them otherwise.
 * @param words output of the server: names, images and paths, or the reason of Compose
 */
export const makeCompareFailure = (
  { remotePath, server }: { readonly remotePath: string; readonly server: string },
  words: string,
  state: string
): ComposeDiffers | DeployFailed => {
  const foreign = parseForeignContainers(
    words.split("\n").flatMap((line) => line.startsWith("foreign\t") ? [line.slice("foreign\t".length)] : [])
  )
  const taken = describeForeignContainers(foreign, { remotePath, server })
  if (taken !== undefined) return new DeployFailed({ step: compareStep, reason: taken, state })
  const differences = words.split("\n").flatMap((line) => describeDifference(line) ?? []).toSorted()
  return differences.length === 0
    ? new DeployFailed({ step: compareStep, reason: words, state, status: 422 })
    : new ComposeDiffers({ server, differences, state })
}
