import { Path } from "@effect/platform"
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff"
import { Effect, Either, Option, Ref, Stream } from "effect"
import { mostTextBytes, textLimit } from "../remote/compare.ts"
import { LocalPathInvalid } from "../schema/basics.ts"
import { type KeyDifference, PullRefused } from "../schema/compare.ts"
import {
  composeFileNames,
  type EditorDiffRequest,
  type EditorDiffResult,
  type PathOutside
} from "../schema/projects.ts"
import { isSecretFile } from "../schema/secrets.ts"
import { parseRemotePath, type RemotePathInvalid, type ServerUnresolved } from "../schema/servers.ts"
import type { RemoteFileFailed, SshError } from "../schema/ssh.ts"
import { CurrentCaller, maySeeValues } from "../services/access/Caller.ts"
import { type LocalFileFailed, LocalFiles } from "../services/local/LocalFiles.ts"
import { LocalProcesses, ProgramNotFound } from "../services/local/LocalProcesses.ts"
import { scrubSecrets, Settings, type SettingsError } from "../services/settings/Settings.ts"
import { Sftp } from "../services/ssh/Sftp.ts"
import { parseEnv } from "./projects/interpolate.ts"
import { permitPath } from "./projects/paths.ts"
import { redactCompose } from "./projects/redactCompose.ts"
import { checkLocalName } from "./pull.ts"

/** Directory for data that a stack writes itself. */
export const dataName = "data"

// Limit in milliseconds for a diff of texts that have little in common.
const effort = { timeout: 300 }

/**
 * Unified diff from the remote to the local text; none if computing it takes too long.
 * @param sides names of both in the diff's header
 */
export const computeTextDiff = (
  name: string,
  remote: string,
  local: string,
  [there, here]: readonly [from: string, to: string] = ["remote", "local"]
): Option.Option<string> =>
  Option.fromNullable(
    createTwoFilesPatch(`${there}/${name}`, `${here}/${name}`, remote, local, undefined, undefined, {
      ...effort,
      context: 3,
      headerOptions: FILE_HEADERS_ONLY
    })
  )

const meanings = (text: string): ReadonlyMap<string, string> =>
  new Map(parseEnv(text).map(({ key, literal, value }) => [key, `${literal && value.includes("$")} ${value}`]))

const keys = (of: ReadonlyMap<string, string>, keep: (key: string) => boolean) => [...of.keys()].filter(keep).sort()

/** Names of the variables that differ between two env files. */
export const compareEnvKeys = (remote: string, local: string): KeyDifference => {
  const [there, here] = [meanings(remote), meanings(local)]
  return {
    different: keys(here, (key) => there.has(key) && there.get(key) !== here.get(key)),
    localOnly: keys(here, (key) => !there.has(key)),
    remoteOnly: keys(there, (key) => !here.has(key))
  }
}

/** Decodes bytes as text; none if they are not UTF-8 or contain a NUL. */
export const decodeUtf8Text = (bytes: Uint8Array): Option.Option<string> =>
  Option.filter(
    Option.liftThrowable(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes))(),
    (text) => !text.includes("\0")
  )

/** Text from a server, if it is complete for a file of this size: neither truncated nor altered on the way. */
export const toWholeText = (text: string, size: number): Option.Option<string> =>
  new TextEncoder().encode(text).length === size && !text.includes("\uFFFD") ? Option.some(text) : Option.none()

const mostTexts = 200

export const isComposeName = (name: string): boolean => composeFileNames.some((known) => known === name)

/** True for a compose file and its override, whose texts the redaction of compose files can mask. */
const isMaskable = (name: string): boolean => isComposeName(name.replace(/\.override(?=\.ya?ml$)/, ""))

/**
 * True for secret files, and for files below `data`: these are private data of the stack, so only their hashes are compared. Env files there
 * are treated like any other env file.
 * @param isSecret tests for env files
 */
export const isHashedOnly = (name: string, isSecret: (name: string) => boolean): boolean =>
  isSecretFile(name) || (name === dataName || name.startsWith(`${dataName}/`)) && !isSecret(name)

/** Names of the files whose texts are read for a diff, limited by the size of each file and by their total size. */
export const listReadableTexts = (
  files: ReadonlyArray<{ readonly name: string; readonly size: number }>
): ReadonlyArray<string> => {
  let bytes = 0
  return files.filter(({ size }) => {
    if (size > textLimit || bytes + size > mostTextBytes) return false
    bytes += size
    return true
  }).slice(0, mostTexts).map(({ name }) => name)
}

/** Difference of two texts of a file; empty if the caller may not see it. */
interface ShownDifference {
  readonly diff?: string
  readonly keys?: KeyDifference
}

/**
 * Difference of two texts of a file as the caller of the current request may see it: only names of variables for an env
 * file, for viewers only compose files and these without values, and never a secret of the settings.
 */
export const showDifference = Effect.fn("compare.showDifference")(function*(
  name: string,
  from: string,
  to: string,
  isSecret: boolean,
  sides?: readonly [from: string, to: string]
): Effect.fn.Return<ShownDifference, never, Settings> {
  if (isSecret) return { keys: compareEnvKeys(from, to) }
  // Values may stand in any other file: files that a compose file includes, configurations, secrets.
  if (!isMaskable(name) && !maySeeValues((yield* CurrentCaller).role)) return {}
  const [old, now] = isMaskable(name)
    ? [yield* redactCompose(from), yield* redactCompose(to)]
    : [Option.some(from), Option.some(to)]
  // The texts may differ only in values that the caller may not see.
  if (Option.isNone(old) || Option.isNone(now) || old.value === now.value) return {}
  return yield* Option.match(computeTextDiff(name, old.value, now.value, sides), {
    onNone: () => Effect.succeed({}),
    onSome: (text) => Effect.map(scrubSecrets(text), (diff) => ({ diff }))
  })
})

const largest = 64 * 1024 * 1024

const localFile = (localPath: string) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const files = yield* LocalFiles
    const invalid = (reason: string) => new LocalPathInvalid({ field: "localPath", path: localPath, reason })
    if (!path.isAbsolute(localPath) || localPath.includes("\0")) return yield* invalid("is not absolute")
    yield* permitPath(localPath)
    const file = path.normalize(localPath)
    const found = yield* files.find(file)
    if (Option.isNone(found)) return yield* invalid("does not exist")
    return found.value.kind === "file" ? file : yield* invalid("is not a regular file")
  })

const bounded = <E>(content: Stream.Stream<Uint8Array, E>, path: string) =>
  Stream.unwrap(
    Effect.map(Ref.make(0), (seen) =>
      Stream.tap(content, (chunk) =>
        Effect.flatMap(
          Ref.updateAndGet(seen, (bytes) => bytes + chunk.length),
          (bytes) => bytes > largest ? new PullRefused({ path, reason: "is larger than 64 MiB" }) : Effect.void
        )))
  )

/**
 * Opens the editor of the setting `editor.command` on a copy of a server's file and a local file. The copy is private,
 * has the file's own name, and is kept because the editor outlives the request.
 */
export const editorDiff = Effect.fn("editorDiff")(function*(
  { localPath, remoteFilePath, serverId }: EditorDiffRequest
): Effect.fn.Return<
  EditorDiffResult,
  | LocalPathInvalid
  | PathOutside
  | LocalFileFailed
  | PullRefused
  | ProgramNotFound
  | RemoteFileFailed
  | RemotePathInvalid
  | ServerUnresolved
  | SettingsError
  | SshError,
  Settings | Sftp | LocalFiles | LocalProcesses | Path.Path
> {
  const settings = yield* Settings
  const files = yield* LocalFiles
  const path = yield* Path.Path
  const server = yield* settings.server(serverId)
  const remote = yield* parseRemotePath("remoteFilePath", remoteFilePath)
  const local = yield* localFile(localPath)
  const [program, ...options] = yield* settings.get("editor.command")
  const refuse = (reason: string) => new PullRefused({ path: remote, reason })
  const name = yield* Either.mapLeft(checkLocalName(remote.split("/").at(-1) ?? "", path.sep), refuse)

  const fetch = (directory: string) =>
    Effect.gen(function*() {
      const copy = path.join(directory, name)
      const session = yield* (yield* Sftp).session(server)
      const { kind } = yield* session.stat(remote)
      if (kind === "directory" || kind === "other") return yield* refuse("is not a regular file")
      yield* files.save(copy, bounded(session.read(remote), remote))
      return copy
    }).pipe(Effect.scoped)

  const directory = yield* files.temporaryDirectory("berth-diff-")
  return yield* Effect.gen(function*() {
    const remoteCopy = yield* fetch(directory)
    yield* Effect.mapError(
      (yield* LocalProcesses).launch({ program, args: [...options, remoteCopy, local] }),
      ({ help }) => new ProgramNotFound({ program, help: `${help}. The setting editor.command names it` })
    )
    return { success: true as const, localPath: local, remoteCopy }
  }).pipe(Effect.onError(() => Effect.ignore(files.remove(directory))))
})
