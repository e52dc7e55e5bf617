import { Path } from "@effect/platform"
import { Array, Effect, Either, Option, Order, Redacted, Stream } from "effect"
import { mergeComposeTexts } from "../../remote/deploy.ts"
import {
  type ContainerConfig,
  type LocalProject,
  ProjectFileInvalid,
  type ProjectTarget
} from "../../schema/projects.ts"
import { isSecretFile } from "../../schema/secrets.ts"
import { findServer, type Server } from "../../schema/servers.ts"
import { quoteInput } from "../../schema/words.ts"
import { type LocalEntry, type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import type { FoundReference } from "./broughtFiles.ts"
import type { ComposeFile } from "./compose.ts"
import { isSecretName, readProjectText } from "./files.ts"
import { normalizeRelativeName, resolveLink } from "./paths.ts"

/** A file that a deploy uploads to the server. */
export interface DeployFile {
  /** Relative to the project and to the remote path, with `/`. */
  readonly name: string
  readonly path: string
  readonly size: number
  readonly mode: "444" | "600" | "644" | "755"
  /** Content in memory, in place of that of the path: it has secrets, which are never written here. */
  readonly content?: { readonly bytes: Redacted.Redacted<Uint8Array>; readonly sha256: string }
}

/** Bytes of a file to upload, in chunks that are valid until the next one is pulled. */
export const streamDeployFile = ({ content, path }: DeployFile) =>
  Effect.map(
    LocalFiles,
    (files) => content === undefined ? files.lend(path) : Stream.make(Redacted.value(content.bytes))
  )

/** The sha256 of a file to upload. */
export const hashDeployFile = ({ content, path }: DeployFile) =>
  Effect.flatMap(LocalFiles, (files) => content === undefined ? files.sha256(path) : Effect.succeed(content.sha256))

/** Text of a project's file as a deploy uploads it; empty if there is none. */
export const readDeployText = (directory: string, name: string, files: ReadonlyArray<DeployFile>) => {
  const content = files.find((file) => file.name === name)?.content
  return content === undefined
    ? Effect.map(readProjectText(directory, name), Option.getOrElse(() => ""))
    : Effect.succeed(new TextDecoder().decode(Redacted.value(content.bytes)))
}

/** Files of a project that decide what its services are. */
interface StackFiles {
  readonly compose: Pick<ComposeFile, "fileNames" | "variableFiles">
  readonly files: ReadonlyArray<DeployFile>
}

/** Texts of a project that decide what its services are: the compose files, merged, and the variables. */
export const readStackTexts = (directory: string, { compose, files }: StackFiles) =>
  Effect.gen(function*() {
    const { fileNames, variableFiles } = compose
    const read = Effect.forEach((name: string) => readDeployText(directory, name, files))
    return {
      compose: mergeComposeTexts(yield* read(fileNames)),
      env: (yield* read(variableFiles.length === 0 ? [".env"] : variableFiles)).join("\n")
    }
  })

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
 * Files that a deploy uploads in addition to the image archive: the compose files, `.env`, the files that Compose reads
 * beside them, the files and directories that services mount, and those of `container.json`. Never includes `data/`,
 * which belongs to the server.
 */
export const listDeployFiles = Effect.fn("listDeployFiles")(function*(
  directory: string,
  compose: Pick<ComposeFile, "fileNames" | "named" | "variableFiles">,
  config: ContainerConfig,
  references: ReadonlyArray<FoundReference> = []
): Effect.fn.Return<ReadonlyArray<DeployFile>, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
  const path = yield* Path.Path
  const files = yield* LocalFiles
  const refuse = (source: string, reason: string) =>
    new ProjectFileInvalid({ file: path.join(directory, source), reason })

  const wanted = (
    name: string,
    source: string,
    secret: boolean,
    isPrivate: (entry: LocalEntry) => boolean = () => false
  ) =>
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
        : [fileAt(clean, real, found.value, secret || isPrivate(found.value))]
    })

  // Compose 1.x fails on bytes that are not valid UTF-8 without naming the file, and 2.x changes them.
  const envFile = (name: string, source: string) =>
    Effect.tap(
      wanted(name, source, true),
      (found) => Effect.forEach(found, ({ name }) => readProjectText(directory, name))
    )

  const env = yield* files.find(path.join(directory, ".env"))
  const sourceOf = (at: string) => at.slice(0, at.lastIndexOf(":"))
  /** A file that only its user may read here stays private. */
  const isOwn = ({ mode }: LocalEntry) => (mode & 0o044) === 0
  const isVariables = (kind: string) => kind === "env_file" || kind === "variables"
  const all = yield* Effect.all([
    ...compose.fileNames.map((name) => wanted(name, name, false)),
    Option.isSome(env) ? wanted(".env", ".env", true) : Effect.succeed([]),
    ...compose.variableFiles.map((name) => envFile(name, name)),
    ...compose.named.map(({ at, kind, name }) =>
      isVariables(kind) ? envFile(name, sourceOf(at)) : wanted(name, sourceOf(at), false)
    ),
    ...references.filter(({ found, path }) => found === "brought" && !isSecretFile(path)).map(({ at, path }) =>
      wanted(path, sourceOf(at), false, isOwn)
    ),
    ...(config.files ?? []).map((name) => wanted(name, "container.json", false))
  ])
  const unique = [...new Map(all.flat().toReversed().map((file) => [file.name, file])).values()].toReversed()
  if (unique.length > mostFiles) {
    return yield* tooMany(path.join(directory, "container.json"))
  }
  return unique
})

const idOf = (stored: ReadonlyArray<Server>, idOrName: string): string =>
  Either.match(findServer(stored, idOrName), { onLeft: () => idOrName, onRight: ({ id }) => id })

/** Replaces the server name of a place by its id; a name that does not match exactly one stored server stays as written. */
export const resolveTarget = (stored: ReadonlyArray<Server>) => (target: ProjectTarget): ProjectTarget => ({
  ...target,
  serverId: idOf(stored, target.serverId)
})

/**
 * Replaces server names in a project by ids. A name that does not match exactly one stored server stays as written.
 */
export const resolveServer = (stored: ReadonlyArray<Server>) => <A extends LocalProject>(project: A): A => ({
  ...project,
  serverId: project.serverId === null ? null : idOf(stored, project.serverId),
  ...project.targets === undefined ? {} : { targets: project.targets.map(resolveTarget(stored)) },
  ...project.environments === undefined ? {} : {
    environments: project.environments.map((environment) => ({
      ...environment,
      targets: environment.targets.map(resolveTarget(stored))
    }))
  }
})
