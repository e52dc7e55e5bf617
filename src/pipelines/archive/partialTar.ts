import { Effect, Stream } from "effect"
import { decompress, type GunzipFailed } from "../../services/bytes/gunzip.ts"
import { LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import type { ImageArchive } from "./imageArchive.ts"
import { blockSize } from "./tarHeader.ts"
import type { TarMember } from "./tarMembers.ts"

/** A tar that is made as it is read, in chunks that are lent (see LocalFiles.lend), and how many bytes it will have. */
export interface PartialTar {
  readonly bytes: Stream.Stream<Uint8Array, LocalFileFailed | GunzipFailed>
  readonly size: number
}

interface Range {
  readonly start: number
  readonly end: number
}

const endOfTar = new Uint8Array(2 * blockSize)

/** The places of members, with neighbours as one. */
const rangesOf = (members: ReadonlyArray<TarMember>): ReadonlyArray<Range> => {
  const ranges: Array<Range> = []
  for (const { end, start } of members) {
    const last = ranges.at(-1)
    if (last?.end === start) ranges[ranges.length - 1] = { start: last.start, end }
    else ranges.push({ start, end })
  }
  return ranges
}

/** Lets through what lies in the ranges, and reads no further than they go. */
const within = (ranges: ReadonlyArray<Range>) => <E>(bytes: Stream.Stream<Uint8Array, E>) =>
  bytes.pipe(
    Stream.mapAccum(0, (offset, chunk) => [offset + chunk.length, { offset, chunk }]),
    Stream.takeWhile(({ offset }) => offset < (ranges.at(-1)?.end ?? 0)),
    Stream.mapConcat(({ chunk, offset }) =>
      ranges.flatMap(({ end, start }) => {
        const [from, to] = [Math.max(0, start - offset), Math.min(chunk.length, end - offset)]
        return from < to ? [chunk.subarray(from, to)] : []
      })
    )
  )

/** Fails when the bytes of a file are not as many as they were. */
export const unchanged = (path: string, size: number) => <E>(bytes: Stream.Stream<Uint8Array, E>) =>
  Stream.suspend(() => {
    let seen = 0
    return bytes.pipe(
      Stream.tap((chunk) =>
        Effect.sync(() => {
          seen += chunk.length
        })
      ),
      Stream.concat(Stream.suspend(() =>
        seen === size
          ? Stream.empty
          : Stream.fail(new LocalFileFailed({ path, reason: "changed while it was being sent: deploy again" }))
      ))
    )
  })

/** How many bytes a tar of these members has. */
export const partialSize = (members: ReadonlyArray<TarMember>): number =>
  members.reduce((sum, { end, start }) => sum + end - start, endOfTar.length)

/** A tar of some members of an archive, copied byte for byte, decompressed where the archive is compressed. */
export const partialTar = (
  { gzip, path }: Pick<ImageArchive, "gzip" | "path">,
  members: ReadonlyArray<TarMember>
): Effect.Effect<PartialTar, never, LocalFiles> =>
  Effect.gen(function*() {
    const files = yield* LocalFiles
    const ranges = rangesOf(members)
    const size = partialSize(members)
    const kept = gzip
      ? within(ranges)(decompress(files.stream(path)))
      : Stream.flatMap(
        Stream.fromIterable(ranges),
        ({ end, start }) => files.lend(path, { offset: start, bytes: end - start })
      )
    return {
      bytes: Stream.concat(unchanged(path, size - endOfTar.length)(kept), Stream.make(endOfTar)),
      size
    }
  })
