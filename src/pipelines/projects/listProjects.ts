import { Path } from "@effect/platform"
import { Array, Effect, Option } from "effect"
import type { LocalProject } from "../../schema/projects/Project.ts"
import { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { listProjectFiles } from "./files/listProjectFiles.ts"
import { inspectProject } from "./inspectProject.ts"
import { redactProject } from "./redactProject.ts"
import { resolveServer } from "./resolveServer.ts"

/** A directory directly under the projects root; the root may hold a link to it. */
export interface ProjectDirectory {
  readonly path: string
  readonly isLink: boolean
}

/** The directories in a directory, in the order of their names, and links there. */
const placesIn = (root: string) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    return (yield* (yield* LocalFiles).names(root)).flatMap(({ kind, name }): ReadonlyArray<ProjectDirectory> =>
      kind === "directory" || kind === "link" ? [{ path: path.join(root, name), isLink: kind === "link" }] : []
    )
  })

/** The directories directly under the setting `projects.root`, in the order of their names, and links there. */
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

/** The projects among the first directories of any directory, their servers as they are written. */
export const listProjectsIn = (root: string, mostPlaces: number) =>
  Effect.flatMap(placesIn(root), (places) => inspectPlaces(places.slice(0, mostPlaces)))

/**
 * The projects directly under the setting `projects.root`, in the order of their names. Links to directories count;
 * a directory that cannot be read is left out.
 */
export const listProjects = Effect.fn("listProjects")(function*() {
  const projects = yield* inspectPlaces(yield* listProjectDirectories())
  // Settings that cannot be read hide no project.
  const stored = yield* Effect.orElseSucceed((yield* Settings).servers, () => [])
  return projects.map(resolveServer(stored))
})
