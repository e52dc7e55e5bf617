import { Chunk, Effect, Either, Option, Stream } from "effect"
import type { Stats } from "ssh2"
import { RemoteFileFailed } from "../../schema/servers/Ssh.ts"
import { type NextPieces, readAhead, type ReadAt } from "./readAhead.ts"
import { longestUnannounced } from "./Sftp.ts"
import type { SftpRequests } from "./sftpRequests.ts"

/** Bytes of one read or write. */
export const pieceSize = 32 * 1024

const readAt = ({ sftp }: SftpRequests, handle: Buffer): ReadAt => (bytes, from, length, offset, answer) =>
  sftp.read(handle, bytes, from, length, offset, answer)

const tooLong = "it is announced without a size and does not end within 64 MiB, the most that is read of such a file"

// Reads until the end: virtual files, such as those of /proc, report a size of 0, and a server may omit the size.
const untilItEnds = (requests: SftpRequests, path: string, handle: Buffer) =>
  Stream.unfoldChunkEffect(0, (offset) => {
    const bytes = Buffer.allocUnsafe(pieceSize)
    return Effect.flatMap(
      requests.ask<number>(path, "reading", (answer) => readAt(requests, handle)(bytes, 0, pieceSize, offset, answer)),
      (count) =>
        count === 0
          ? Effect.succeedNone
          : offset + count > longestUnannounced
          ? new RemoteFileFailed({ ...requests.place, path, reason: tooLong })
          : Effect.succeedSome([Chunk.of(bytes.subarray(0, count)), offset + count] as const)
    )
  })

const wholly = (requests: SftpRequests, path: string, handle: Buffer, size: number) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => readAhead(readAt(requests, handle), size)),
      ({ stop }) => Effect.sync(stop)
    ),
    ({ next }) =>
      Stream.unfoldChunkEffect(undefined, () =>
        requests.answered<NextPieces, never>(path, "reading", (answer) =>
          next((taken) =>
            answer(Effect.succeed(taken))
          )).pipe(
            Effect.flatMap(Either.match({
              onRight: (pieces) =>
                Effect.succeed(Option.some([pieces, undefined] as const)),
              onLeft: Option.match({
                onNone: () => Effect.succeed(Option.none()),
                onSome: (error) => requests.failed(path, error)
              })
            }))
          ))
  )

/** Bytes of an open file, in their order. */
export const readOpen = (requests: SftpRequests, path: string, handle: Buffer) =>
  Effect.gen(function*() {
    const { size } = yield* requests.ask<Partial<Stats>>(
      path,
      "looking at",
      (answer) => requests.sftp.fstat(handle, answer)
    )
    return size === undefined || size === 0
      ? untilItEnds(requests, path, handle)
      : yield* wholly(requests, path, handle, size)
  })
