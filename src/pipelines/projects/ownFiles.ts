import { Path } from "@effect/platform"
import { Effect, Option, Stream } from "effect"
import { capacity } from "../../schema/basics.ts"
import { ProjectFileInvalid } from "../../schema/projects.ts"
import { type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"

const newFileMode = 0o600

const invalid = (file: string, reason: string) => new ProjectFileInvalid({ file, reason })

/**
 * Refuses a link in the place of a file that Berth writes into a project, wherever it leads and whether or not its target
 * exists: a cloned repository must not have Berth read or replace a file elsewhere.
 * @param name name directly in the directory
 * @returns true if there is something else of this name
 */
export const refuseLink = Effect.fn("refuseLink")(function*(
  directory: string,
  name: string
): Effect.fn.Return<boolean, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const entry = (yield* (yield* LocalFiles).names(directory)).find((each) => each.name === name)
  if (entry?.kind !== "link") return entry !== undefined
  return yield* invalid(
    (yield* Path.Path).join(directory, name),
    "is a link, and Berth writes it only in the project itself. Put a file in its place"
  )
})

/** Permissions of a file that Berth writes into a project; none if it does not exist. Refuses links and large files. */
const findOwnFile = (directory: string, name: string) =>
  Effect.gen(function*() {
    if (!(yield* refuseLink(directory, name))) return Option.none()
    const file = (yield* Path.Path).join(directory, name)
    const found = yield* (yield* LocalFiles).find(file)
    if (Option.isNone(found)) return Option.none()
    if (found.value.kind !== "file") return yield* invalid(file, "is not a regular file")
    if (found.value.size > capacity.ownFile) {
      return yield* invalid(file, `is larger than ${capacity.ownFile / 1024 / 1024} MiB`)
    }
    return Option.some(found.value.mode)
  })

/** Content of a file that Berth writes into a project; none if it does not exist. Refuses links and more than 16 MiB. */
export const readOwnFile = Effect.fn("readOwnFile")(function*(
  directory: string,
  name: string
): Effect.fn.Return<Option.Option<Uint8Array>, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const found = yield* findOwnFile(directory, name)
  if (Option.isNone(found)) return Option.none()
  return Option.some(yield* (yield* LocalFiles).read((yield* Path.Path).join(directory, name)))
})

/**
 * Writes a file into a project: replaces it in one step and keeps its permissions; a new file is private. Refuses links,
 * and follows none that appears meanwhile.
 */
export const writeOwnFile = Effect.fn("writeOwnFile")(function*(
  directory: string,
  name: string,
  content: string
): Effect.fn.Return<void, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const found = yield* findOwnFile(directory, name)
  const mode = Option.getOrElse(found, () => newFileMode)
  const file = (yield* Path.Path).join(directory, name)
  yield* (yield* LocalFiles).save(file, Stream.make(new TextEncoder().encode(content)), { mode })
})
