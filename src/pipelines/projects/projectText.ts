import { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { ProjectFileInvalid } from "../../schema/Project.ts"
import { type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"

const maxBytes = 1024 * 1024

/** The text of a project's configuration file, up to 1 MiB and without a byte order mark; nothing when there is no such file. */
export const projectText = Effect.fn("projectText")(function*(
  directory: string,
  name: string
): Effect.fn.Return<Option.Option<string>, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const files = yield* LocalFiles
  const file = (yield* Path.Path).join(directory, name)
  const found = yield* files.find(file)
  if (Option.isNone(found)) return Option.none()
  if (found.value.kind !== "file") return yield* new ProjectFileInvalid({ file, reason: "is not a regular file" })
  if (found.value.size > maxBytes) return yield* new ProjectFileInvalid({ file, reason: "is larger than 1 MiB" })
  const bytes = yield* files.read(file)
  return yield* Effect.try({
    try: () => Option.some(new TextDecoder("utf-8", { fatal: true }).decode(bytes)),
    catch: () => new ProjectFileInvalid({ file, reason: "is not valid UTF-8" })
  })
})
