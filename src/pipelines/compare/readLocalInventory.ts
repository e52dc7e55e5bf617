import { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import type { ContainerConfig, ProjectFileInvalid } from "../../schema/projects/Project.ts"
import { type LocalEntry, type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { resolveLink } from "../projects/files/resolveLink.ts"

/** A local file of a comparison. */
export interface LocalFile {
  readonly path: string
  readonly size: number
}

/** A name relative to the project, with its resolved path. */
interface NamedPath {
  readonly name: string
  readonly at: string
}

/** Local files, and those that could not be read. */
export interface LocalInventory {
  readonly files: ReadonlyMap<string, LocalFile>
  /** Requested names that could not be inspected. */
  readonly unknown: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
}

/**
 * Lists the files of a project with these names, and all files below the directories among them. Skips links below a
 * directory, and warns about paths that lead out of the project unless `container.json` allows them.
 * @param names relative to the project, with `/`
 */
export const readLocalInventory = Effect.fn("compare.localInventory")(function*(
  directory: string,
  names: ReadonlyArray<string>,
  config: Pick<ContainerConfig, "allowLinks">
): Effect.fn.Return<LocalInventory, never, LocalFiles | Path.Path> {
  const path = yield* Path.Path
  const local = yield* LocalFiles
  const files = new Map<string, LocalFile>()
  const unknown: Array<string> = []
  const warnings: Array<string> = []
  const orWarn = <A, R>(effect: Effect.Effect<A, LocalFileFailed | ProjectFileInvalid, R>, instead: A) =>
    Effect.catchAll(effect, ({ message }) => Effect.sync(() => (warnings.push(message), instead)))
  const note = (place: NamedPath, { kind, size }: LocalEntry): ReadonlyArray<NamedPath> => {
    if (kind === "file") files.set(place.name, { path: place.at, size })
    return kind === "directory" ? [place] : []
  }
  const lookUp = (name: string) =>
    Effect.gen(function*() {
      const found = yield* local.find(path.join(directory, ...name.split("/")))
      if (Option.isNone(found)) return []
      return note({ name, at: yield* resolveLink(directory, name, config) }, found.value)
    })

  const noteUnknown = (name: string) => Effect.sync(() => void unknown.push(name))
  const found = yield* Effect.forEach(
    names,
    (name) => orWarn(Effect.tapError(lookUp(name), () => noteUnknown(name)), []),
    { concurrency: 8 }
  )
  let level = found.flat()
  while (level.length > 0) {
    const below = yield* Effect.forEach(
      level,
      (parent) =>
        Effect.map(
          orWarn(local.list(parent.at), []),
          (entries) =>
            entries.flatMap((entry) =>
              note({ name: `${parent.name}/${entry.name}`, at: path.join(parent.at, entry.name) }, entry)
            )
        ),
      { concurrency: 8 }
    )
    level = below.flat()
  }
  return { files, unknown, warnings }
})
