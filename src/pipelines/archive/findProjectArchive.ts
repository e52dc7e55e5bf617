import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { type ContainerConfig, ProjectFileInvalid } from "../../schema/projects/Project.ts"
import type { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import type { DeployFile } from "../projects/deployFiles.ts"
import { findNewestTar, findProjectFiles } from "../projects/files/projectFiles.ts"
import { resolveLink } from "../projects/files/resolveLink.ts"

/** Finds a project's image archive, its newest `*.tar`; fails if it is empty or leads out of the project. */
export const findProjectArchive = Effect.fn("findProjectArchive")(function*(
  directory: string,
  config: ContainerConfig
): Effect.fn.Return<Option.Option<DeployFile>, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const entries = yield* findProjectFiles(directory, [])
  const name = Option.getOrUndefined(findNewestTar(entries))
  const entry = entries.find((one) => one.name === name)
  if (entry === undefined) return Option.none()
  const archive = {
    name: entry.name,
    path: yield* resolveLink(directory, entry.name, config),
    size: entry.size,
    mode: "644" as const
  }
  if (archive.size > 0) return Option.some(archive)
  return yield* new ProjectFileInvalid({ file: `${directory}/${archive.name}`, reason: "is empty: build it again" })
})
