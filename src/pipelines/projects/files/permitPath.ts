import { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { PathOutside } from "../../../schema/projects/Project.ts"
import type { SettingsError } from "../../../schema/Settings.ts"
import { CurrentCaller, mayLeaveRoot } from "../../../services/access/Caller.ts"
import { mayChange } from "../../../services/access/rights.ts"
import { LocalFiles } from "../../../services/local/LocalFiles.ts"
import { Settings } from "../../../services/settings/Settings.ts"

/** Entry of the root that a path goes through: a project is a directory there, or the target of a link there. */
const directoryUnderRoot = (path: Path.Path, root: string, directory: string): Option.Option<string> => {
  const below = path.relative(root, directory)
  const [first = "", ...rest] = below.split(path.sep)
  return path.isAbsolute(below) || first === ".." || (first === "" && rest.length === 0)
    ? Option.none()
    : Option.some(path.join(root, first))
}

const longestPath = 4_096

const holds = (path: Path.Path, directory: string, file: string) => {
  const below = path.relative(directory, file)
  return below !== ".." && !below.startsWith(`..${path.sep}`) && !path.isAbsolute(below)
}

/** Real path of the nearest existing parent of a path; missing parts may be created later. */
const nearest = (file: string): Effect.Effect<Option.Option<string>, never, LocalFiles | Path.Path> =>
  Effect.gen(function*() {
    const { dirname } = yield* Path.Path
    const real = yield* Effect.option((yield* LocalFiles).realPath(file))
    return Option.isSome(real) || dirname(file) === file ? real : yield* nearest(dirname(file))
  })

/**
 * Fails if the caller of the current request may not work at a local path. Callers with a token are limited to
 * `projects.root` after resolving links; the local user, and operators if the settings allow it, are not. Missing paths
 * outside the root get the same error, so that it reveals nothing about them.
 * Call this at the start of a request, because a recovered run has no caller.
 */
export const permitPath = Effect.fn("permitPath")(function*(
  localPath: string
): Effect.fn.Return<void, PathOutside | SettingsError, LocalFiles | Path.Path | Settings> {
  const caller = yield* CurrentCaller
  const path = yield* Path.Path
  // Relative paths, and text that is not a path, are rejected by all functions that take a directory.
  if (mayLeaveRoot(caller, false) || !path.isAbsolute(localPath) || localPath.includes("\0")) return
  const settings = yield* Settings
  if (mayLeaveRoot(caller, yield* settings.get("projects.anywhere"))) return
  const files = yield* LocalFiles
  const root = yield* settings.get("projects.root")
  const directory = path.resolve(localPath)
  const place = directoryUnderRoot(path, root, directory)
  const real = directory.length > longestPath ? Option.none() : yield* nearest(directory)
  const homes = yield* Effect.forEach(
    [root, ...Option.toArray(place)],
    (home) => Effect.option(files.realPath(home))
  )
  const isInside = Option.exists(real, (file) => homes.some(Option.exists((home) => holds(path, home, file))))
  if (isInside) return
  return yield* new PathOutside({
    path: localPath,
    root,
    caller: caller.name,
    isOperator: mayChange(caller.role)
  })
})
