import { Path } from "@effect/platform"
import { Clock, Effect, Option } from "effect"
import { LocalFiles } from "../../local/LocalFiles.ts"
import { isUnfinished } from "../../local/unfinishedFile.ts"

/** Maximum duration of a save in milliseconds; older temporary files are abandoned. */
const oldest = 60_000

/** Removes the temporary files of killed saves beside a file; they contain everything that the file contains. */
export const clearUnfinished = (file: string): Effect.Effect<void, never, LocalFiles | Path.Path> =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const files = yield* LocalFiles
    const directory = path.dirname(yield* files.realPath(file))
    const now = yield* Clock.currentTimeMillis
    const unfinished = (yield* files.names(directory)).filter(({ kind, name }) => kind === "file" && isUnfinished(name))
    yield* Effect.forEach(unfinished, ({ name }) =>
      Effect.gen(function*() {
        const file = path.join(directory, name)
        const found = yield* files.find(file)
        if (Option.exists(found, ({ modified }) => now - modified > oldest)) yield* files.remove(file)
      }))
  }).pipe(Effect.ignore)
