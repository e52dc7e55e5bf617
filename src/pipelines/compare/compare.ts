import { Path } from "@effect/platform"
import { Effect, Either, Option } from "effect"
import {
  contentsCommand,
  inventoryCommand,
  parseContents,
  parseInventory,
  type RemoteFile
} from "../../remote/compare/compareCommand.ts"
import { execute, makeCommandFailed } from "../../remote/execute.ts"
import type { ComparedFile, CompareRequest, Comparison, ComparisonStatus } from "../../schema/projects/Compare.ts"
import {
  composeFileNames,
  type ContainerConfig,
  containerConfigName,
  ProjectFileInvalid
} from "../../schema/projects/Project.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { RemoteCommandFailed, SshError } from "../../schema/servers/Ssh.ts"
import { LocalFiles } from "../../services/local/LocalFiles.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { readComposeFile } from "../projects/compose/composeFile.ts"
import { readContainerConfig } from "../projects/files/containerConfig.ts"
import { normalizeRelativeName } from "../projects/files/normalizeRelativeName.ts"
import { findComposeFile } from "../projects/files/projectFiles.ts"
import { type DirectoryRefused, resolveProjectDirectory } from "../projects/files/resolveProjectDirectory.ts"
import { isSecretName } from "../projects/files/secretName.ts"
import { resolveStack, type StackRefused } from "../servers/resolveStack.ts"
import { compareImages } from "./compareImages.ts"
import { decodeUtf8Text, toWholeText } from "./difference.ts"
import { type LocalFile, readLocalInventory } from "./readLocalInventory.ts"
import { dataName, isComposeName, isHashedOnly, listReadableTexts, showDifference } from "./showDifference.ts"

const mostWarnings = 20

interface Names {
  /** Files and directories, relative to the project. */
  readonly all: ReadonlyArray<string>
  /** Tests for files that may contain values of variables, which are never shown. */
  readonly isSecret: (name: string) => boolean
  readonly warnings: ReadonlyArray<string>
  readonly config: ContainerConfig
}

/** Names that a comparison covers: the compose file, env files, `data` and the entries of `container.json`. */
const namesOf = (directory: string) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const config = yield* readContainerConfig(directory)
    const configured = yield* Effect.forEach(config.files ?? [], (name) =>
      Either.mapLeft(
        normalizeRelativeName(name),
        (reason) => new ProjectFileInvalid({ file: path.join(directory, containerConfigName), reason })
      ))
    // A missing or broken compose file does not prevent the comparison, which then lacks the env files that it names.
    // Since a broken one may name any file, no other file is then shown as text.
    const compose = Option.isNone(yield* findComposeFile(directory))
      ? Either.right([])
      : yield* Effect.map(readComposeFile(directory), ({ services }) => services).pipe(
        Effect.map(Either.right),
        Effect.catchTag("ProjectFileInvalid", (error) => Effect.succeed(Either.left(error.message)))
      )
    const envFiles = Either.getOrElse(compose, () => []).flatMap((service) => service.envFiles)
      .flatMap((name) => Option.toArray(Either.getRight(normalizeRelativeName(name))))
    const secrets = new Set(envFiles)
    const names: Names = {
      all: [...new Set([...composeFileNames, ".env", ...envFiles, ...configured, dataName])],
      isSecret: (name) => secrets.has(name) || isSecretName(name) || (Either.isLeft(compose) && !isComposeName(name)),
      warnings: Option.toArray(Either.getLeft(compose)),
      config
    }
    return names
  })

const lookAt = (server: ServerAccess, remotePath: string, names: Names, sudo: boolean) =>
  Effect.gen(function*() {
    const command = inventoryCommand(remotePath, names.all, sudo)
    const { stderr, stdout } = yield* execute(server, command, { timeout: "30 minutes" })
    const files = yield* Effect.mapError(parseInventory(stdout), () =>
      makeCommandFailed(server, command, 0, `"${server.name}" did not answer with a list of files`))
    return {
      files,
      sudo,
      warnings: stderr.split("\n").map((line) =>
        line.trim()
      ).filter((line) => line !== "")
    }
  })

/** Lists files as the server's user; repeats this with sudo only if that user cannot read everything. */
const remoteInventory = (server: ServerAccess, remotePath: string, names: Names) =>
  Effect.gen(function*() {
    const plain = yield* lookAt(server, remotePath, names, false)
    if (plain.warnings.length === 0 || !server.useSudo) return plain
    return yield* Effect.catchTag(lookAt(server, remotePath, names, true), "SudoRefused", ({ message }) =>
      Effect.succeed({ ...plain, warnings: [...plain.warnings, message] }))
  })

interface Pair {
  readonly name: string
  readonly local: LocalFile | undefined
  readonly remote: RemoteFile | undefined
}

const statusOf = ({ local, remote }: Pair) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    if (remote === undefined) return "local-only"
    if (local === undefined) return "remote-only"
    if (local.size !== remote.size) return "different"
    return (yield* files.sha256(local.path)) === remote.sha256 ? "same" : "different"
  })

type Judged = Pair & { readonly status: ComparisonStatus }

/** Reads the remote texts of files that differ, within the limits for a diff. */
const remoteTexts = (
  server: ServerAccess,
  remotePath: string,
  names: Names,
  files: ReadonlyArray<Judged>,
  sudo: boolean
) =>
  Effect.gen(function*() {
    const differing = files.flatMap(({ local, name, remote, status }) =>
      status !== "different" || local === undefined || remote === undefined || isHashedOnly(name, names.isSecret)
        ? []
        : [{ name, size: Math.max(local.size, remote.size) }]
    )
    const shown = listReadableTexts(differing)
    if (shown.length === 0) return new Map<string, string>()
    const command = contentsCommand(remotePath, shown, sudo)
    const { stdout } = yield* execute(server, command)
    return parseContents(stdout)
  })

const described = (names: Names, texts: ReadonlyMap<string, string>) => ({ local, name, remote, status }: Judged) =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const plain: ComparedFile = { name, status, localSize: local?.size ?? null, remoteSize: remote?.size ?? null }
    const there = Option.flatMap(Option.fromNullable(texts.get(name)), (text) => toWholeText(text, remote?.size ?? -1))
    if (local === undefined || Option.isNone(there)) return plain
    const here = decodeUtf8Text(yield* files.read(local.path))
    yield* Effect.yieldNow()
    if (Option.isNone(here)) return plain
    const shown = yield* showDifference(name, there.value, here.value, names.isSecret(name))
    return { ...plain, ...shown }
  })

/**
 * Compares a project with its deployed copy by hashes: the compose file, env files, `data/`, the files of
 * `container.json`, and the images of its archive. Small texts that differ come with a diff. Env files only show names
 * of variables, and files below `data/` only that they differ.
 */
export const compare = Effect.fn("compare")(function*(
  { projectPath, remotePath, serverId }: CompareRequest
): Effect.fn.Return<
  Comparison,
  DirectoryRefused | ProjectFileInvalid | RemoteCommandFailed | SshError | StackRefused,
  Settings | Ssh | LocalFiles | Path.Path
> {
  const { remotePath: path, server } = yield* resolveStack({ remotePath, serverId })
  const directory = yield* resolveProjectDirectory(projectPath)
  const names = yield* namesOf(directory)
  const [here, there, { images, warnings: notCompared }] = yield* Effect.all([
    readLocalInventory(directory, names.all, names.config),
    remoteInventory(server, path, names),
    compareImages(server, path, directory, names.config)
  ], { concurrency: 3 })

  const warnings = [...new Set([...names.warnings, ...here.warnings, ...there.warnings, ...notCompared])]
  const pairs = [...new Set([...here.files.keys(), ...there.files.keys()])].sort().flatMap((name): Array<Pair> => {
    const remote = there.files.get(name)
    // A file that is unreadable on either side does not count as different; a warning names it.
    const isUnknown = here.unknown.some((place) => name === place || name.startsWith(`${place}/`))
    return isUnknown || (remote !== undefined && remote.sha256 === undefined)
      ? []
      : [{ name, local: here.files.get(name), remote }]
  })
  const judged = yield* Effect.forEach(pairs, (pair) =>
    statusOf(pair).pipe(
      Effect.map((status): Option.Option<Judged> => Option.some({ ...pair, status })),
      Effect.catchAll(({ message }) => Effect.sync(() => (warnings.push(message), Option.none<Judged>())))
    ), { concurrency: 4 })
  const files = judged.flatMap(Option.toArray)
  const texts = yield* remoteTexts(server, path, names, files, there.sudo)
  const count = (status: ComparisonStatus) => files.filter((file) => file.status === status).length
  return {
    projectPath: directory,
    serverId: server.id,
    remotePath: path,
    files: yield* Effect.forEach(files, described(names, texts)),
    images,
    summary: {
      "same": count("same"),
      "different": count("different"),
      "local-only": count("local-only"),
      "remote-only": count("remote-only")
    },
    warnings: yield* Effect.forEach(warnings.slice(0, mostWarnings), (warning) => scrubSecrets(warning))
  }
})
