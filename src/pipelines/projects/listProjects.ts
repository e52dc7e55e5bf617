import { Path } from "@effect/platform"
import { Array, Effect, Option } from "effect"
import type { LocalProject } from "../../schema/Project.ts"
import { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { inspectProject } from "./inspectProject.ts"

/**
 * The projects directly under the setting `projects.root`, in the order of their names. Links to directories count;
 * a directory that cannot be read is left out.
 */
export const listProjects = Effect.fn("listProjects")(function*() {
  const path = yield* Path.Path
  const files = yield* LocalFiles
  const root = yield* (yield* Settings).get("projects.root")
  const found = yield* files.find(root)
  if (!Option.exists(found, ({ kind }) => kind === "directory")) {
    const reason = Option.isNone(found) ? "does not exist" : "is not a directory"
    return yield* new LocalFileFailed({
      path: root,
      reason: `the projects root ${reason}: create it, or set projects.root`
    })
  }
  const inspect = (name: string) =>
    Effect.gen(function*() {
      const directory = path.join(root, name)
      const target = yield* files.find(directory)
      if (!Option.exists(target, ({ kind }) => kind === "directory")) return Option.none<LocalProject>()
      return Option.some(yield* inspectProject(directory))
    }).pipe(Effect.orElseSucceed(Option.none<LocalProject>))

  const entries = Array.filter(yield* files.names(root), ({ kind }) => kind === "directory" || kind === "link")
  const projects = yield* Effect.forEach(entries, ({ name }) => inspect(name), { concurrency: 16 })
  return Array.getSomes(projects).filter((project) =>
    project.hasImageFile || project.hasComposeFile || project.hasPlatformJson
  )
})
