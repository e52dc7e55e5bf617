import { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { ProjectFileInvalid } from "../../schema/Project.ts"
import { type LocalEntry, type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { linkTarget } from "./linkTarget.ts"

const mebibyte = 1024 * 1024
const decoder = new TextDecoder("utf-8", { fatal: true })

/** How a file of a project is read. */
export interface ReadOptions {
  readonly mostMiB?: number
  readonly seen?: LocalEntry | undefined
}

/**
 * The text of a file of a project, up to 1 MiB or so many, and without a byte order mark; nothing when there is no such file.
 * @param allowLinks whether it may be a link that leads out of the project; asked only of one that does
 * @param seen what a look at the directory told of it just now, where it is not a link: that is not asked again
 */
export const confinedText = Effect.fn("confinedText")(function*<R>(
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
      linkTarget(directory, name, {}),
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
