import { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { PathOutside } from "../../../schema/projects/Project.ts"
import type { SettingsError } from "../../../schema/Settings.ts"
import { CurrentCaller, mayLeaveRoot } from "../../../services/access/Caller.ts"
import { mayChange } from "../../../services/access/rights.ts"
import { LocalFiles } from "../../../services/local/LocalFiles.ts"
import { Settings } from "../../../services/settings/Settings.ts"

/** The place under the root that a path goes through: a project is a directory there, or what a link there leads to. */
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

/** A path with the links on the way resolved, as far as it leads: what is missing at its end may be made there. */
const nearest = (file: string): Effect.Effect<Option.Option<string>, never, LocalFiles | Path.Path> =>
  Effect.gen(function*() {
    const { dirname } = yield* Path.Path
    const real = yield* Effect.option((yield* LocalFiles).realPath(file))
    return Option.isSome(real) || dirname(file) === file ? real : yield* nearest(dirname(file))
  })

/**
 * Fails where the caller of the current request may not work at a path of this machine: callers with a token only within
 * `projects.root`, with the links on the way resolved. The user of this machine works anywhere, and so do operators
 * where the settings say so. Outside of the root a path that leads nowhere is refused alike, so that nobody learns what
 * is there. Meant for the beginning of a request: a run that goes on after a restart has no caller.
 */
export const permitPath = Effect.fn("permitPath")(function*(
  localPath: string
): Effect.fn.Return<void, PathOutside | SettingsError, LocalFiles | Path.Path | Settings> {
  const caller = yield* CurrentCaller
  const path = yield* Path.Path
  // A relative path, or text that is not a path, is refused by everything that takes a directory.
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
