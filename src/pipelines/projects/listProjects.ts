import { Path } from "@effect/platform"
import { Array, Effect, Option } from "effect"
import type { LocalProject } from "../../schema/projects/Project.ts"
import { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { listProjectFiles } from "./files/listProjectFiles.ts"
import { inspectProject } from "./inspectProject.ts"
import { redactProject } from "./redactProject.ts"
import { resolveServer } from "./resolveServer.ts"

/** A directory directly under the projects root, or a link there. */
export interface ProjectDirectory {
  readonly path: string
  readonly isLink: boolean
}

/** Directories and links in a directory, sorted by name. */
const placesIn = (root: string) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    return (yield* (yield* LocalFiles).names(root)).flatMap(({ kind, name }): ReadonlyArray<ProjectDirectory> =>
      kind === "directory" || kind === "link" ? [{ path: path.join(root, name), isLink: kind === "link" }] : []
    )
  })

/** Directories and links directly under the setting `projects.root`, sorted by name. */
export const listProjectDirectories = Effect.fn("listProjectDirectories")(function*() {
  const files = yield* LocalFiles
  const settings = yield* Settings
  const root = yield* settings.get("projects.root")
  const found = yield* files.find(root)
  if (!Option.exists(found, ({ kind }) => kind === "directory")) {
    const reason = Option.isNone(found) ? "does not exist" : "is not a directory"
    return yield* new LocalFileFailed({
      path: root,
      reason: `the projects root ${reason}: create it, or set projects.root in ${settings.file}`
    })
  }
  return yield* placesIn(root)
})

export const isDirectory = ({ isLink, path }: ProjectDirectory) =>
  isLink
    ? Effect.map(
      Effect.flatMap(LocalFiles, (files) => files.find(path)),
      Option.exists(({ kind }) => kind === "directory")
    )
    : Effect.succeed(true)

/** True if a directory holds anything deployable. */
export const isDeployable = (project: LocalProject): boolean =>
  project.hasImageFile || project.hasComposeFile || project.hasPlatformJson

const inspectPlace = (place: ProjectDirectory) =>
  Effect.gen(function*() {
    if (!(yield* isDirectory(place))) return Option.none<LocalProject>()
    return Option.some(yield* redactProject(yield* inspectProject(place.path, yield* listProjectFiles(place.path))))
  }).pipe(Effect.orElseSucceed(Option.none<LocalProject>))

const inspectPlaces = (places: ReadonlyArray<ProjectDirectory>) =>
  Effect.map(
    Effect.forEach(places, inspectPlace, { concurrency: 16 }),
    (found) => Array.getSomes(found).filter(isDeployable)
  )

/** Projects among the first directories under any root, with their servers as written. */
export const listProjectsIn = (root: string, mostPlaces: number) =>
  Effect.flatMap(placesIn(root), (places) => inspectPlaces(places.slice(0, mostPlaces)))

/**
 * Projects directly under the setting `projects.root`, sorted by name. Links to directories count; an unreadable
 * directory is left out.
 */
export const listProjects = Effect.fn("listProjects")(function*() {
  const projects = yield* inspectPlaces(yield* listProjectDirectories())
  // Unreadable settings do not hide any project.
  const stored = yield* Effect.orElseSucceed((yield* Settings).servers, () => [])
  return projects.map(resolveServer(stored))
})
