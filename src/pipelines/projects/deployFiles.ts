import { Path } from "@effect/platform"
import { Array, Effect, Either, Option, Order, Redacted, Stream } from "effect"
import { mergeComposeTexts, type RemotePaths } from "../../remote/deploy.ts"
import type { PlannedReference } from "../../schema/deploys.ts"
import { type ContainerConfig, containerConfigName, ProjectFileInvalid } from "../../schema/projects.ts"
import { isSecretFile, secretsDirectory } from "../../schema/secrets.ts"
import { quoteInput } from "../../schema/words.ts"
import { type LocalEntry, type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import type { ComposeFile } from "./compose.ts"
import type { ComposeReference } from "./compose/composeReferences.ts"
import { isInside } from "./compose/composeSources.ts"
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

// Decides about the files and directories beside the compose files that a stack needs: which ones a deploy brings,
// which ones belong to the server, and which ones stop it.

/** A reference with what the project has at its path. */
export interface FoundReference extends ComposeReference {
  /** `absent` is decided by what the server has. */
  readonly found: "brought" | "data" | "absent" | "outside"
  /** True for a regular file of the project. */
  readonly isFile: boolean
  /** Reason why a path outside is refused; none where `allowLinks` permits it. */
  readonly refusal?: string
  /** True if the project has a directory there that nothing has decided about yet. */
  readonly isUndecided?: boolean
}

/** References of a plan, with what they mean for the deploy. */
export interface DecidedReferences {
  readonly references: ReadonlyArray<PlannedReference>
  readonly obstacles: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
}

/** True for a path that a list of files and directories names, or one above it. */
const isNamed = (names: ReadonlyArray<string>, path: string) =>
  names.some((name) => path === name || path.startsWith(`${name}/`))

const cleanNames = (names: ReadonlyArray<string> | null | undefined) =>
  (names ?? []).flatMap((name) => Option.toArray(Either.getRight(normalizeRelativeName(name))))

/** Failure at the place that names a path. */
const refuseAt = (file: string, at: string, reason: string) => {
  const line = Number(at.slice(at.lastIndexOf(":") + 1))
  return new ProjectFileInvalid({ file, place: { line, column: 1 }, reason })
}

/** Looks up in the project what its compose files name. */
export const findReferences = Effect.fn("findReferences")(function*(
  directory: string,
  { references }: Pick<ComposeFile, "references">,
  config: Pick<ContainerConfig, "allowLinks" | "data" | "files" | "secrets">
): Effect.fn.Return<
  ReadonlyArray<FoundReference>,
  ProjectFileInvalid | LocalFileFailed,
  LocalFiles | Path.Path
> {
  const path = yield* Path.Path
  const files = yield* LocalFiles
  const data = ["data", ...cleanNames(config.data)]
  const brought = cleanNames(config.files)
  return yield* Effect.forEach(
    references,
    (reference) =>
      Effect.gen(
        function*(): Effect.fn.Return<FoundReference, ProjectFileInvalid | LocalFileFailed, LocalFiles | Path.Path> {
          const known = { ...reference, isFile: false }
          const at = path.join(directory, ...reference.at.slice(0, reference.at.lastIndexOf(":")).split("/"))
          if (!isInside(reference.path)) {
            return {
              ...known,
              found: "outside",
              ...config.allowLinks === true ? {} : { refusal: "leaves the project" }
            }
          }
          if (reference.path === ".") return { ...known, found: "data", isUndecided: !data.includes(".") }
          const clean = yield* Either.mapLeft(
            normalizeRelativeName(reference.path),
            (reason) => refuseAt(at, reference.at, `names a path that cannot be used: ${reason}`)
          )
          if (isNamed([".berth"], clean)) {
            return yield* refuseAt(
              at,
              reference.at,
              `names ${quoteInput(clean)}, where Berth keeps the releases on the server`
            )
          }
          if (isSecretFile(clean) && config.secrets?.[clean.slice(secretsDirectory.length + 1)]?.as === "file") {
            return { ...known, found: "brought" }
          }
          if (isNamed(data, clean)) return { ...known, found: "data" }
          const entry = yield* files.find(path.join(directory, ...clean.split("/")))
          if (Option.isNone(entry)) return { ...known, found: "absent" }
          const link = yield* Effect.either(resolveLink(directory, clean, config))
          if (Either.isLeft(link)) {
            if (link.left._tag === "LocalFileFailed") return yield* link.left
            return { ...known, found: "outside", refusal: link.left.reason }
          }
          if (entry.value.kind === "other") {
            return yield* refuseAt(
              at,
              reference.at,
              `names ${quoteInput(clean)}, which is not a regular file or a directory`
            )
          }
          const isFile = entry.value.kind === "file"
          if (isFile || !reference.isWritable || isNamed(brought, clean)) return { ...known, found: "brought", isFile }
          return { ...known, found: "data", isUndecided: true }
        }
      ),
    { concurrency: 8 }
  )
})

const describeUse = ({ at, kind, path }: ComposeReference) =>
  kind === "mount" ? `${at} mounts ${quoteInput(path)}` : `${at} names ${quoteInput(path)}`

const describeMissing = (reference: FoundReference, server: string) =>
  `${describeUse(reference)}, which neither the project nor "${server}" has` +
  (reference.kind === "mount"
    ? `: Docker would make an empty directory in its place. Add it to the project, or name it in "data" of ` +
      `${containerConfigName} if the server keeps its data there`
    : ": add it to the project")

const describeDirectory = ({ at, path }: ComposeReference, server: string, remotePath: string) =>
  `${quoteInput(path)} (${at}) is a file here and a directory on "${server}", which Docker made when the file was ` +
  `missing: remove it there, with rmdir, in ${remotePath}`

/**
 * Decides about references with what the server has. Nothing is started where a source is missing, as Docker would make
 * a directory of its name.
 */
export const decideReferences = (
  found: ReadonlyArray<FoundReference>,
  there: RemotePaths,
  { remotePath, server }: { readonly remotePath: string; readonly server: string }
): DecidedReferences => {
  const isThere = (path: string) => there.directories.has(path) || there.others.has(path)
  const decide = (reference: FoundReference): PlannedReference["decided"] | undefined => {
    if (reference.found !== "absent") return reference.found
    if (isThere(reference.path)) return "data"
    return reference.isOptional ? undefined : "missing"
  }
  const decided = found.map((reference) => ({ reference, decided: decide(reference) }))
  return {
    references: decided.flatMap(({ decided, reference: { at, path } }) =>
      decided === undefined ? [] : [{ path, at, decided }]
    ),
    obstacles: decided.flatMap(({ decided, reference }) => {
      if (decided === "missing") return [describeMissing(reference, server)]
      if (decided === "outside" && reference.refusal !== undefined && !reference.isOptional) {
        const cure = reference.refusal === "leaves the project"
          ? `. Copy it into the project, or set "allowLinks": true in ${containerConfigName} where the server has it`
          : ""
        return [`${describeUse(reference)}, which ${reference.refusal}${cure}`]
      }
      return reference.isFile && there.directories.has(reference.path)
        ? [describeDirectory(reference, server, remotePath)]
        : []
    }),
    warnings: decided.flatMap(({ decided, reference }) => {
      if (reference.found === "data" && reference.isUndecided === true) {
        return [
          `${describeUse(reference)} for writing: the directory is data of the server, and nothing in it is sent. ` +
          `Name it in "data" or "files" of ${containerConfigName} to decide that`
        ]
      }
      return decided === "outside" && reference.refusal === undefined
        ? [`${describeUse(reference)}, which leaves the project: it is not brought, so "${server}" needs it already`]
        : []
    })
  }
}

/** Paths whose presence on the server decides about a reference. */
export const listProbes = (found: ReadonlyArray<FoundReference>): ReadonlyArray<string> =>
  found.filter(({ found }) => found === "absent").map(({ path }) => path)

/** Brought files and directories that each service's containers see, without the values of secrets. */
export const listServiceMounts = (
  found: ReadonlyArray<FoundReference>
): ReadonlyArray<{ readonly service: string; readonly path: string }> =>
  found.filter(({ found, kind, path }) => found === "brought" && kind !== "label" && !isSecretFile(path))
    .flatMap(({ path, services }) => Array.dedupe(services).map((service) => ({ service, path })))

/** Files of secrets among the files of a project, whose texts are never shown. */
export const listSecretFiles = (
  found: ReadonlyArray<FoundReference>,
  names: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const secrets = found.filter(({ kind }) => kind === "secret").map(({ path }) => path)
  return names.filter((name) => isNamed(secrets, name))
}

/** Services whose containers see one of these files. */
export const listServicesSeeing = (
  mounts: ReadonlyArray<{ readonly service: string; readonly path: string }>,
  names: Iterable<string>
): ReadonlySet<string> => {
  const above = new Set(
    [...names].flatMap((name) => name.split("/").map((_, index, all) => all.slice(0, index + 1).join("/")))
  )
  return new Set(mounts.flatMap(({ path, service }) => above.has(path) ? [service] : []))
}
