import { Path } from "@effect/platform"
import { Array, Effect, Option, Order } from "effect"
import { composeFileNames } from "../../../schema/projects/Project.ts"
import { type LocalEntry, type LocalFileFailed, LocalFiles } from "../../../services/local/LocalFiles.ts"

export const isArchiveName = (name: string) => name.endsWith(".tar")

/**
 * Image archives at the top level of a project, and its files with the given names, including links to files. Inspects
 * nothing else, because a project may have any number of other files.
 */
export const findProjectFiles = Effect.fn("findProjectFiles")(function*(
  directory: string,
  names: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyArray<LocalEntry>, LocalFileFailed, LocalFiles | Path.Path> {
  const path = yield* Path.Path
  const files = yield* LocalFiles
  const wanted = (yield* files.names(directory)).filter(({ kind, name }) =>
    kind !== "directory" && (isArchiveName(name) || names.includes(name))
  )
  const seen = yield* Effect.forEach(
    wanted,
    ({ name }) => Effect.orElseSucceed(files.find(path.join(directory, name)), Option.none<LocalEntry>),
    { concurrency: 8 }
  )
  return Array.filterMap(
    Array.zip(wanted, seen),
    ([{ name }, found]) =>
      Option.map(Option.filter(found, ({ kind }) => kind === "file"), (file) => ({ ...file, name }))
  )
})

/** First of the given names that exists among the files. */
export const findFirstNamed = (files: ReadonlyArray<LocalEntry>, names: ReadonlyArray<string>): Option.Option<string> =>
  Array.findFirst(names, (name) => files.some((file) => file.name === name))

const newest = Order.combine(
  Order.reverse(Order.mapInput(Order.number, (file: LocalEntry) => file.modified)),
  Order.mapInput(Order.string, (file: LocalEntry) => file.name)
)

/** Name of the most recently written `*.tar` among a project's files. */
export const findNewestTar = (files: ReadonlyArray<LocalEntry>): Option.Option<string> =>
  Option.map(Array.head(Array.sort(files.filter(({ name }) => isArchiveName(name)), newest)), ({ name }) => name)

/** The name of a project's image archive: its newest `*.tar`. */
export const readNewestTar = (directory: string) => Effect.map(findProjectFiles(directory, []), findNewestTar)

export const findComposeFile = (directory: string) =>
  Effect.map(findProjectFiles(directory, composeFileNames), (files) => findFirstNamed(files, composeFileNames))
