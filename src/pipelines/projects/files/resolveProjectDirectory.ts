import { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { ProjectPathInvalid } from "../../../schema/projects/Project.ts"
import { LocalFiles } from "../../../services/local/LocalFiles.ts"
import { permitPath } from "./permitPath.ts"

/** Reasons why the directory of a project cannot be used. */
export type DirectoryRefused = Effect.Effect.Error<ReturnType<typeof resolveProjectDirectory>>

/**
 * Checks that a caller's `projectPath` is an absolute path of a directory that the caller may work in. Returns it
 * without `.`, `..` and a trailing separator.
 */
export const resolveProjectDirectory = Effect.fn("resolveProjectDirectory")(function*(
  projectPath: string
) {
  const path = yield* Path.Path
  const files = yield* LocalFiles
  const invalid = (reason: string) => new ProjectPathInvalid({ path: projectPath, reason })
  if (projectPath.includes("\0")) return yield* invalid("contains a NUL character")
  if (projectPath.length > 4_096) return yield* invalid("is longer than 4096 characters")
  if (!path.isAbsolute(projectPath)) return yield* invalid("is not absolute: give the whole path of the directory")
  yield* permitPath(projectPath)
  const directory = path.resolve(projectPath)
  const found = yield* files.find(directory)
  if (Option.isNone(found)) return yield* invalid("does not exist")
  if (found.value.kind !== "directory") return yield* invalid("is not a directory")
  return directory
})
