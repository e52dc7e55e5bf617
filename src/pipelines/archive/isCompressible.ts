import { Chunk, Effect, Option, Stream } from "effect"
import { computeCompressionRatio } from "../../services/bytes/gzip.ts"
import { type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"
import type { DeployFile } from "../projects/deployFiles.ts"
import type { Transfer } from "./transfer.ts"

const sampleSize = 256 * 1024
/** Compression must bring a transfer below this share of its size to be worth the processor time on both sides. */
const mostShare = 0.8

/** Largest range of an archive that a transfer reads; none if the archive itself is compressed. */
const largestRange = (transfer: Transfer, file: DeployFile | undefined) => {
  if (transfer.kind === "whole" && file !== undefined) return Option.some({ start: 0, end: file.size })
  if (transfer.kind !== "layers" || transfer.archive.gzip) return Option.none()
  const ranges = transfer.images.flatMap(({ layout }) =>
    [...layout.blobs].flatMap(([digest, blob]) =>
      "bytes" in blob || transfer.leftOut.has(digest)
        ? []
        : [{ start: blob.member.end - blob.member.size, end: blob.member.end }]
    )
  )
  return Option.fromNullable(ranges.toSorted((one, other) => other.end - other.start - (one.end - one.start))[0])
}

/** Checks on a sample of a transfer's largest part whether compression makes it smaller. */
export const isCompressible = Effect.fn("archive.isCompressible")(function*(
  transfer: Transfer,
  file: DeployFile | undefined
): Effect.fn.Return<boolean, LocalFileFailed, LocalFiles> {
  // Members of a compressed archive are sent decompressed.
  if (transfer.kind === "layers" && transfer.archive.gzip) return true
  const range = largestRange(transfer, file)
  if (file === undefined || Option.isNone(range)) return false
  const { end, start } = range.value
  const offset = Math.max(start, Math.floor((start + end - sampleSize) / 2))
  const files = yield* LocalFiles
  const chunks = yield* Stream.runCollect(
    files.stream(file.path, { offset, bytes: Math.min(sampleSize, end - offset) })
  )
  return computeCompressionRatio(Buffer.concat(Chunk.toReadonlyArray(chunks))) < mostShare
})
