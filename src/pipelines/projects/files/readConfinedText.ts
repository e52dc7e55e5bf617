import { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { ProjectFileInvalid } from "../../../schema/projects/Project.ts"
import { type LocalEntry, type LocalFileFailed, LocalFiles } from "../../../services/local/LocalFiles.ts"
import { resolveLink } from "./resolveLink.ts"

const mebibyte = 1024 * 1024
const decoder = new TextDecoder("utf-8", { fatal: true })

export interface ReadOptions {
  readonly mostMiB?: number
  readonly seen?: LocalEntry | undefined
}

/**
 * Text of a project's file without its byte order mark, at most 1 MiB or the given limit; none if the file is missing.
 * @param allowLinks decides about a link that leads out of the project; only evaluated for such a link
 * @param seen its current entry in the directory listing, unless it is a link; saves a second stat
 */
export const readConfinedText = Effect.fn("readConfinedText")(function*<R>(
  directory: string,
  name: string,
  allowLinks: Effect.Effect<boolean, never, R>,
  { mostMiB = 1, seen }: ReadOptions = {}
): Effect.fn.Return<Option.Option<string>, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path | R> {
  const files = yield* LocalFiles
  const file = (yield* Path.Path).join(directory, name)
  const found = seen === undefined ? yield* files.find(file) : Option.some(seen)
  if (Option.isNone(found)) return Option.none()
  if (found.value.kind !== "file") return yield* new ProjectFileInvalid({ file, reason: "is not a regular file" })
  if (found.value.size > mostMiB * mebibyte) {
    return yield* new ProjectFileInvalid({ file, reason: `is larger than ${mostMiB} MiB` })
  }
  const target = seen === undefined
    ? yield* Effect.catchTag(
      resolveLink(directory, name, {}),
      "ProjectFileInvalid",
      (error) => Effect.if(allowLinks, { onTrue: () => Effect.succeed(file), onFalse: () => error })
    )
    : file
  const bytes = yield* files.read(target)
  return yield* Effect.try({
    try: () => Option.some(decoder.decode(bytes)),
    catch: () => new ProjectFileInvalid({ file, reason: "is not valid UTF-8" })
  })
})
