import { Path } from "@effect/platform"
import { Array, Effect, Either, Option } from "effect"
import type { RemotePaths } from "../../remote/deploy.ts"
import type { PlannedReference } from "../../schema/deploys.ts"
import { type ContainerConfig, containerConfigName, ProjectFileInvalid } from "../../schema/projects.ts"
import { isSecretFile, secretsDirectory } from "../../schema/secrets.ts"
import { quoteInput } from "../../schema/words.ts"
import { type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import type { ComposeFile } from "./compose.ts"
import type { ComposeReference } from "./compose/composeReferences.ts"
import { isInside } from "./compose/composeSources.ts"
import { normalizeRelativeName, resolveLink } from "./paths.ts"

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
