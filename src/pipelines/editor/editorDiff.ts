import { Path } from "@effect/platform"
import { Effect, Either, Option, Ref, Stream } from "effect"
import { LocalPathInvalid } from "../../schema/basics/LocalPath.ts"
import { PullRefused } from "../../schema/deploy/Pull.ts"
import type { EditorDiffRequest, EditorDiffResult } from "../../schema/projects/EditorDiff.ts"
import type { PathOutside } from "../../schema/projects/Project.ts"
import { parseRemotePath, type RemotePathInvalid } from "../../schema/servers/RemotePath.ts"
import type { ServerUnresolved } from "../../schema/servers/Server.ts"
import type { RemoteFileFailed, SshError } from "../../schema/servers/Ssh.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import { LocalProcesses, ProgramNotFound } from "../../services/local/LocalProcesses.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { Sftp } from "../../services/ssh/Sftp.ts"
import { permitPath } from "../projects/files/permitPath.ts"
import { checkLocalName } from "../pull/checkLocalName.ts"

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
