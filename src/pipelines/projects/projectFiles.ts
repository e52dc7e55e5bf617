import { Path } from "@effect/platform"
import { Array, Effect, Option, Order } from "effect"
import { composeFileNames } from "../../schema/Project.ts"
import { type LocalEntry, type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"

/** The files directly in a project, those behind links too. */
export const projectFiles = Effect.fn("projectFiles")(function*(
  directory: string
): Effect.fn.Return<ReadonlyArray<LocalEntry>, LocalFileFailed, LocalFiles | Path.Path> {
  const path = yield* Path.Path
  const files = yield* LocalFiles
  const entries = yield* files.list(directory)
  const seen = yield* Effect.forEach(
    entries,
    (entry) =>
      entry.kind === "link"
        ? Effect.orElseSucceed(files.find(path.join(directory, entry.name)), Option.none)
        : Effect.succeedSome(entry),
    { concurrency: 8 }
  )
  return Array.filterMap(
    Array.zip(entries, seen),
    ([{ name }, found]) =>
      Option.map(Option.filter(found, ({ kind }) => kind === "file"), (file) => ({ ...file, name }))
  )
})

/** The name of the first of these files that is there. */
export const firstNamed = (files: ReadonlyArray<LocalEntry>, names: ReadonlyArray<string>): Option.Option<string> =>
  Array.findFirst(names, (name) => files.some((file) => file.name === name))

const newest = Order.combine(
  Order.reverse(Order.mapInput(Order.number, (file: LocalEntry) => file.modified)),
  Order.mapInput(Order.string, (file: LocalEntry) => file.name)
)

/** The most recently written `*.tar` among a project's files. */
export const newestTarOf = (files: ReadonlyArray<LocalEntry>): Option.Option<string> =>
  Option.map(Array.head(Array.sort(files.filter(({ name }) => name.endsWith(".tar")), newest)), ({ name }) => name)

/** The name of a project's image archive: its newest `*.tar`. */
export const newestTar = (directory: string) => Effect.map(projectFiles(directory), newestTarOf)

/** The name of a project's compose file. */
export const composeFileOf = (directory: string) =>
  Effect.map(projectFiles(directory), (files) => firstNamed(files, composeFileNames))
