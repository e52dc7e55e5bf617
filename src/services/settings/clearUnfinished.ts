import { Path } from "@effect/platform"
import { Clock, Effect } from "effect"
import { LocalFiles } from "../local/LocalFiles.ts"
import { isUnfinished } from "../local/unfinished.ts"

/** A save takes no longer than this, so that what is older belongs to nobody. */
const oldest = 60_000

/** Removes what saves that were killed have left beside a file; they hold all that the file holds. */
export const clearUnfinished = (file: string): Effect.Effect<void, never, LocalFiles | Path.Path> =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const files = yield* LocalFiles
    const directory = path.dirname(yield* files.realPath(file))
    const now = yield* Clock.currentTimeMillis
    const left = (yield* files.list(directory)).filter(({ kind, modified, name }) =>
      kind === "file" && isUnfinished(name) && now - modified > oldest
    )
    yield* Effect.forEach(left, ({ name }) => files.remove(path.join(directory, name)))
  }).pipe(Effect.ignore)
