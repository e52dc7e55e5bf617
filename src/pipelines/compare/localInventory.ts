import { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { type LocalEntry, type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"

/** A local file of a comparison. */
export interface LocalFile {
  readonly path: string
  readonly size: number
}

/** What is there, and what could not be looked at. */
export interface LocalInventory {
  readonly files: ReadonlyMap<string, LocalFile>
  readonly warnings: ReadonlyArray<string>
}

/**
 * The files of a project with these names, and every file below those that are directories; links below a directory
 * are left out.
 * @param names relative to the project, with `/`
 */
export const localInventory = Effect.fn("compare.localInventory")(function*(
  directory: string,
  names: ReadonlyArray<string>
): Effect.fn.Return<LocalInventory, never, LocalFiles | Path.Path> {
  const path = yield* Path.Path
  const local = yield* LocalFiles
  const files = new Map<string, LocalFile>()
  const warnings: Array<string> = []
  const at = (name: string) => path.join(directory, ...name.split("/"))
  const orWarn = <A>(effect: Effect.Effect<A, LocalFileFailed>, instead: A) =>
    Effect.catchAll(effect, ({ message }) => Effect.sync(() => (warnings.push(message), instead)))
  const note = (name: string, { kind, size }: LocalEntry): ReadonlyArray<string> => {
    if (kind === "file") files.set(name, { path: at(name), size })
    return kind === "directory" ? [name] : []
  }

  const found = yield* Effect.forEach(names, (name) => orWarn(local.find(at(name)), Option.none()), { concurrency: 8 })
  let level = names.flatMap((name, index) =>
    Option.match(found[index] ?? Option.none(), { onNone: () => [], onSome: (entry) => note(name, entry) })
  )
  while (level.length > 0) {
    const below = yield* Effect.forEach(
      level,
      (parent) =>
        Effect.map(
          orWarn(local.list(at(parent)), []),
          (entries) => entries.flatMap((entry) => note(`${parent}/${entry.name}`, entry))
        ),
      { concurrency: 8 }
    )
    level = below.flat()
  }
  return { files, warnings }
})
