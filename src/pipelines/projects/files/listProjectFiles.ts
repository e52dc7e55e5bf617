import { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import {
  composeFileNames,
  containerConfigName,
  platformFileName,
  projectFileNames
} from "../../../schema/projects/Project.ts"
import { type LocalEntry, type LocalFileFailed, LocalFiles } from "../../../services/local/LocalFiles.ts"
import { isArchiveName } from "./projectFiles.ts"

/**
 * Files that identify a project, by name. Only files that are read or compared have sizes and times: configuration and
 * compose files, and image archives.
 */
export type ListedFiles = ReadonlyMap<string, LocalEntry>

const readNames: ReadonlyArray<string> = [containerConfigName, platformFileName, ...composeFileNames]
const isLookedAt = (name: string) => readNames.includes(name) || isArchiveName(name)

/**
 * Inspects a project with as few calls as possible: one for its names, and one for each file that is read or compared.
 * None if one of the files is a link, since links have to be followed.
 */
export const listProjectFiles = Effect.fn("listProjectFiles")(function*(
  directory: string
): Effect.fn.Return<Option.Option<ListedFiles>, LocalFileFailed, LocalFiles | Path.Path> {
  const files = yield* LocalFiles
  const path = yield* Path.Path
  const telling = (yield* files.names(directory)).filter(({ name }) =>
    projectFileNames.includes(name) || isArchiveName(name)
  )
  if (telling.some(({ kind }) => kind === "link")) return Option.none()
  const regular = telling.filter(({ kind }) => kind === "file")
  const seen = yield* Effect.forEach(regular, ({ kind, name }) =>
    isLookedAt(name)
      ? Effect.map(files.find(path.join(directory, name)), Option.map((entry) => [name, { ...entry, name }] as const))
      : Effect.succeedSome([name, { name, kind, size: 0, modified: 0, mode: 0 }] as const), { concurrency: 4 })
  return Option.some(new Map(seen.flatMap(Option.toArray)))
})
