import { Chunk, Effect, Option, Stream } from "effect"
import type { FileEntryWithStats, Stats } from "ssh2"
import { RemoteFileFailed } from "../../schema/servers/Ssh.ts"
import type { RemoteEntry, RemoteKind } from "./Sftp.ts"
import { readSftpCode, type SftpRequests, statuses } from "./sftpRequests.ts"

/** Maximum number of entries of a directory: a server could send endless ones. */
const mostEntries = 200_000
const emptyAnswer = 1_000
const tooMany = "it holds more than 200,000 entries, the most that are read of a directory"

export const toRemoteKind = (stats: Stats): RemoteKind =>
  stats.isSymbolicLink() ? "link" : stats.isDirectory() ? "directory" : stats.isFile() ? "file" : "other"

type FileEntry = Pick<FileEntryWithStats, "filename" | "attrs">
const entryOf = ({ attrs, filename }: FileEntry): RemoteEntry => ({
  name: filename,
  kind: toRemoteKind(attrs),
  size: attrs.size
})

/** Next entries of an open directory; none at its end. */
const someEntries = ({ answered, failed, sftp }: SftpRequests, path: string, handle: Buffer) =>
  answered<Option.Option<ReadonlyArray<FileEntry>>, RemoteFileFailed>(
    path,
    "listing",
    (answer) =>
      sftp.readdir(handle, (error, entries) => {
        if (!error) return answer(Effect.succeed(Option.some(entries)))
        answer(readSftpCode(error) === statuses.end ? Effect.succeedNone : failed(path, error))
      })
  )

/** Entries of an open directory. */
export const listOpen = (requests: SftpRequests, path: string, handle: Buffer) =>
  Stream.unfoldChunkEffect(0, (before) =>
    Effect.gen(function*() {
      const entries = yield* someEntries(requests, path, handle)
      if (Option.isNone(entries)) return Option.none()
      // An empty reply counts too: a server could send endless ones.
      const count = before + (entries.value.length || emptyAnswer)
      if (count > mostEntries) return yield* new RemoteFileFailed({ ...requests.place, path, reason: tooMany })
      return Option.some([Chunk.fromIterable(entries.value.map(entryOf)), count] as const)
    }))
