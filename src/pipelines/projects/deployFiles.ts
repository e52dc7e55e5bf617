import { Path } from "@effect/platform"
import { Array, Effect, Either, Option, Order } from "effect"
import { type ContainerConfig, ProjectFileInvalid } from "../../schema/projects/Project.ts"
import { quoteInput } from "../../schema/words/quoted.ts"
import { type LocalEntry, type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import type { ComposeFile } from "./compose/composeFile.ts"
import { normalizeRelativeName } from "./files/normalizeRelativeName.ts"
import { readProjectText } from "./files/readProjectText.ts"
import { resolveLink } from "./files/resolveLink.ts"
import { isSecretName } from "./files/secretName.ts"

/** A file that a deploy uploads to the server. */
export interface DeployFile {
  /** Relative to the project and to the remote path, with `/`. */
  readonly name: string
  readonly path: string
  readonly size: number
  readonly mode: "600" | "644" | "755"
}

/** Total size of files in bytes. */
export const sumFileSizes = (files: ReadonlyArray<Pick<DeployFile, "size">>): number =>
  files.reduce((sum, { size }) => sum + size, 0)

const mostFiles = 10_000

const fileAt = (name: string, path: string, { mode, size }: LocalEntry, secret: boolean): DeployFile => ({
  name,
  path,
  size,
  mode: secret || isSecretName(name) ? "600" : (mode & 0o100) === 0 ? "644" : "755"
})

const tooMany = (path: string) =>
  new ProjectFileInvalid({ file: path, reason: `has more than ${mostFiles} files to deploy` })

/**
 * Lists the files below a directory; does not follow links. Names are counted before any file is inspected, so that too
 * many files fail early.
 */
const below = (
  name: string,
  directory: string
): Effect.Effect<ReadonlyArray<DeployFile>, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const files = yield* LocalFiles
    const found: Array<{ readonly named: string; readonly at: string }> = []
    const left = [{ named: name, at: directory }]
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      for (const entry of yield* files.names(next.at)) {
        const child = { named: `${next.named}/${entry.name}`, at: path.join(next.at, entry.name) }
        if (entry.kind === "directory") left.push(child)
        if (entry.kind === "file") found.push(child)
      }
      if (found.length > mostFiles || left.length > mostFiles) return yield* tooMany(directory)
    }
    const looked = yield* Effect.forEach(
      found,
      ({ at, named }) => Effect.map(files.find(at), Option.map((entry) => fileAt(named, at, entry, false))),
      { concurrency: 8 }
    )
    return Array.sortWith(Array.getSomes(looked), (file) => file.name, Order.string)
  })

/**
 * Files that a deploy uploads in addition to the image archive: the compose file, `.env`, the `env_file`s that it
 * names, and the files and directories of `container.json`. Never includes `data/`, which belongs to the server.
 */
export const listDeployFiles = Effect.fn("listDeployFiles")(function*(
  directory: string,
  compose: ComposeFile,
  config: ContainerConfig
): Effect.fn.Return<ReadonlyArray<DeployFile>, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const path = yield* Path.Path
  const files = yield* LocalFiles
  const refuse = (source: string, reason: string) =>
    new ProjectFileInvalid({ file: path.join(directory, source), reason })

  const wanted = (name: string, source: string, secret: boolean) =>
    Effect.gen(function*() {
      const clean = yield* Either.mapLeft(normalizeRelativeName(name), (reason) => refuse(source, reason))
      if (clean === "data" || clean.startsWith("data/")) {
        return yield* refuse(source, `${quoteInput(name)} is data of the server and never deployed`)
      }
      if (clean === ".berth" || clean.startsWith(".berth/")) {
        return yield* refuse(
          source,
          `${quoteInput(name)} is where Berth keeps the releases on the server: name it otherwise`
        )
      }
      const at = path.join(directory, ...clean.split("/"))
      const found = yield* files.find(at)
      if (Option.isNone(found)) return yield* refuse(source, `names ${clean}, which does not exist`)
      if (found.value.kind === "other") return yield* refuse(clean, "is not a regular file")
      const real = yield* resolveLink(directory, clean, config)
      return found.value.kind === "directory"
        ? yield* below(clean, real)
        : [fileAt(clean, real, found.value, secret)]
    })

  // Compose 1.x fails on bytes that are not valid UTF-8 without naming the file, and 2.x changes them.
  const envFile = (name: string) =>
    Effect.tap(
      wanted(name, compose.fileName, true),
      (found) => Effect.forEach(found, ({ name }) => readProjectText(directory, name))
    )

  const env = yield* files.find(path.join(directory, ".env"))
  const envFiles = compose.services.flatMap((service) => service.envFiles)
  const all = yield* Effect.all([
    wanted(compose.fileName, compose.fileName, false),
    Option.isSome(env) ? wanted(".env", ".env", true) : Effect.succeed([]),
    ...envFiles.map(envFile),
    ...(config.files ?? []).map((name) => wanted(name, "container.json", false))
  ])
  const unique = [...new Map(all.flat().toReversed().map((file) => [file.name, file])).values()].toReversed()
  if (unique.length > mostFiles) {
    return yield* tooMany(path.join(directory, "container.json"))
  }
  return unique
})
