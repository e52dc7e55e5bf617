import { Path } from "@effect/platform"
import { Array, Effect, Option } from "effect"
import type { LocalProject } from "../../schema/Project.ts"
import { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { inspectProject } from "./inspectProject.ts"
import { resolveServer } from "./resolveServer.ts"
import { seenFiles } from "./seenFiles.ts"
import { shownProject } from "./shownProject.ts"

/** A directory directly under the projects root; the root may hold a link to it. */
export interface ProjectPlace {
  readonly path: string
  readonly isLink: boolean
}

/** The directories directly under the setting `projects.root`, in the order of their names, and links there. */
export const projectPlaces = Effect.fn("projectPlaces")(function*() {
  const path = yield* Path.Path
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
  return (yield* files.names(root)).flatMap(({ kind, name }): ReadonlyArray<ProjectPlace> =>
    kind === "directory" || kind === "link" ? [{ path: path.join(root, name), isLink: kind === "link" }] : []
  )
})

/** Whether there is a directory at this place. */
export const isThere = ({ isLink, path }: ProjectPlace) =>
  isLink
    ? Effect.map(
      Effect.flatMap(LocalFiles, (files) => files.find(path)),
      Option.exists(({ kind }) => kind === "directory")
    )
    : Effect.succeed(true)

/** Whether a directory holds anything that Berth deploys. */
export const isDeployable = (project: LocalProject): boolean =>
  project.hasImageFile || project.hasComposeFile || project.hasPlatformJson

/**
 * The projects directly under the setting `projects.root`, in the order of their names. Links to directories count;
 * a directory that cannot be read is left out.
 */
export const listProjects = Effect.fn("listProjects")(function*() {
  const inspect = (place: ProjectPlace) =>
    Effect.gen(function*() {
      if (!(yield* isThere(place))) return Option.none<LocalProject>()
      return Option.some(yield* shownProject(yield* inspectProject(place.path, yield* seenFiles(place.path))))
    }).pipe(Effect.orElseSucceed(Option.none<LocalProject>))
  const projects = yield* Effect.forEach(yield* projectPlaces(), inspect, { concurrency: 16 })
  // Settings that cannot be read hide no project.
  const stored = yield* Effect.orElseSucceed((yield* Settings).servers, () => [])
  return Array.getSomes(projects).filter(isDeployable).map(resolveServer(stored))
})
