import { Deferred, Effect, Option, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import type { Readable, Writable } from "node:stream"
import { createGunzip, createGzip, gzipSync } from "node:zlib"
import type { OutputStream } from "../schema/runs.ts"

/**
 * Writes a chunk and waits until it is flushed, so that its memory can be reused. Never completes on a broken stream.
 */
export const writeChunk = (channel: Writable, chunk: Uint8Array): Effect.Effect<void> =>
  Effect.async((resume) => {
    channel.write(chunk, (error) => {
      if (error === null || error === undefined) resume(Effect.void)
    })
  })

const next = (readable: Readable): Effect.Effect<Uint8Array, Option.Option<never>> =>
  Effect.async((resume) => {
    const stop = () => {
      readable.off("readable", take)
      readable.off("end", take).off("close", take)
    }
    const take = () => {
      const chunk: unknown = readable.read()
      if (chunk instanceof Uint8Array) {
        stop()
        resume(Effect.succeed(chunk))
      } else if (readable.readableEnded || readable.destroyed) {
        stop()
        resume(Effect.fail(Option.none()))
      }
    }
    readable.on("readable", take)
    readable.on("end", take).on("close", take)
    take()
    return Effect.sync(stop)
  })

/** Streams a readable without extra buffering. Also ends when the readable is closed early. */
export const streamBytes = (readable: Readable): Stream.Stream<Uint8Array> => Stream.repeatEffectOption(next(readable))

/** The bytes are not valid gzip, or are truncated. */
export class GunzipFailed extends Schema.TaggedError<GunzipFailed>()("GunzipFailed", { reason: Schema.String }) {
  readonly status = 500
  override get message() {
    return `The gzip data cannot be read: ${this.reason}`
  }
}

/** Decompresses a gzip stream in chunks of 256 KiB, with back-pressure. */
export const decompress = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | GunzipFailed> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const broken = yield* Deferred.make<never, E | GunzipFailed>()
    const gunzip = yield* Effect.acquireRelease(
      Effect.sync(() => createGunzip({ chunkSize: 256 * 1024 })),
      (gunzip) => Effect.sync(() => gunzip.destroy())
    )
    gunzip.on("error", ({ message }) => Deferred.unsafeDone(broken, new GunzipFailed({ reason: message })))
    yield* Stream.runForEach(bytes, (chunk) => writeChunk(gunzip, chunk)).pipe(
      Effect.zipRight(Effect.sync(() => gunzip.end())),
      Effect.catchAllCause((cause) => Deferred.failCause(broken, cause)),
      Effect.forkScoped
    )
    return Stream.interruptWhen(streamBytes(gunzip), Deferred.await(broken))
  }))

/** The fastest: half as much again would take three times as long. */
const level = 1

/** Ratio of the compressed to the original size. */
export const computeCompressionRatio = (sample: Uint8Array): number =>
  sample.length === 0 ? 1 : gzipSync(sample, { level }).length / sample.length

/**
 * Compresses a stream with gzip, with back-pressure. Chunks may be lent: each is consumed before the next one is
 * pulled.
 */
export const compress = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const broken = yield* Deferred.make<never, E>()
    const gzip = yield* Effect.acquireRelease(
      Effect.sync(() => createGzip({ level, chunkSize: 256 * 1024 })),
      (gzip) => Effect.sync(() => gzip.destroy())
    )
    yield* Stream.runForEach(bytes, (chunk) => writeChunk(gzip, chunk)).pipe(
      Effect.zipRight(Effect.sync(() => gzip.end())),
      Effect.catchAllCause((cause) => Deferred.failCause(broken, cause)),
      Effect.forkScoped
    )
    return Stream.interruptWhen(streamBytes(gzip), Deferred.await(broken))
  }))

const smallest = 4 * 1024

/**
 * Keeps the last bytes of a stream, up to a limit. The cost depends on the number of bytes, not on the size of the
 * chunks.
 */
export const keepLastBytes = (limit: number) => {
  // Chunks are appended; when the buffer is full, its last `limit` bytes move to the front.
  const most = limit + Math.max(smallest, Math.ceil(limit / 4))
  let memory = Buffer.allocUnsafe(Math.min(most, smallest))
  let used = 0
  let total = 0
  const makeRoom = (wanted: number): void => {
    if (used + wanted > most) {
      const kept = Math.min(used, limit)
      memory.copyWithin(0, used - kept, used)
      used = kept
    }
    if (used + wanted <= memory.length) return
    const larger = Buffer.allocUnsafe(Math.min(most, Math.max(2 * memory.length, used + wanted)))
    memory.copy(larger, 0, 0, used)
    memory = larger
  }
  return {
    add: (chunk: Uint8Array): void => {
      total += chunk.length
      const step = most - limit
      const last = chunk.length > limit ? chunk.subarray(chunk.length - limit) : chunk
      for (let at = 0; at < last.length; at += step) {
        const piece = last.subarray(at, at + step)
        makeRoom(piece.length)
        memory.set(piece, used)
        used += piece.length
      }
    },
    /** The bytes as UTF-8. Invalid bytes become replacement characters; a truncated character is omitted. */
    text: (): string => {
      const last = memory.subarray(Math.max(0, used - limit), used)
      if (total <= limit) return last.toString("utf8")
      const start = last.subarray(0, 3).findIndex((byte) => (byte & 0xc0) !== 0x80)
      return last.subarray(start < 0 ? 0 : start).toString("utf8")
    },
    truncated: (): boolean => total > limit
  }
}

/** Maximum number of queued pieces. */
const mostPieces = 1_024

/** Output of a program on one of its streams. */
export interface OutputPiece {
  readonly stream: OutputStream
  readonly text: string
}

/** Output of a program that is not yet delivered, and the number of lines dropped before it. */
interface LatestOutput {
  readonly add: (piece: OutputPiece) => void
  readonly take: () => { readonly dropped: number; readonly pieces: ReadonlyArray<OutputPiece> }
}

/** Number of line ends in a text. */
export const countLines = (text: string): number => {
  let count = 0
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1
  return count
}

/** Merges consecutive pieces of the same stream. */
const joined = (pieces: ReadonlyArray<OutputPiece>): ReadonlyArray<OutputPiece> => {
  const all: Array<{ readonly stream: OutputStream; readonly texts: Array<string> }> = []
  for (const { stream, text } of pieces) {
    const last = all.at(-1)
    if (last?.stream === stream) last.texts.push(text)
    else all.push({ stream, texts: [text] })
  }
  return all.map(({ stream, texts }) => ({ stream, text: texts.join("") }))
}

/**
 * Bounded buffer of output that arrives faster than it is delivered; the oldest is dropped first. Drops whole lines: a
 * secret that is cut in two would no longer be recognized.
 */
export const makeLatestOutput = (mostCharacters: number): LatestOutput => {
  let pieces: Array<OutputPiece> = []
  let size = 0
  let dropped = 0

  /** True when the beginning of the next line was dropped, so that the rest must be dropped too. */
  let isBroken = false

  const startsBroken = () => isBroken
  const isOver = () => size > mostCharacters || pieces.length > mostPieces
  /** Drops the first piece up to an index, or the whole piece if the index is 0. */
  const drop = (end: number) => {
    const first = pieces.shift()
    if (first === undefined) return
    const gone = end === 0 ? first.text : first.text.slice(0, end)
    size -= gone.length
    dropped += countLines(gone)
    isBroken = !gone.endsWith("\n")
    if (gone.length < first.text.length) pieces.unshift({ ...first, text: first.text.slice(gone.length) })
  }
  const lineEnd = (from: number) => (pieces[0]?.text.indexOf("\n", from) ?? -1) + 1
  const trim = () => {
    while (isOver() && pieces.length > 1) drop(0)
    if (isOver()) drop(lineEnd(size - mostCharacters - 1))
    while (pieces.length > 0 && startsBroken()) drop(lineEnd(0))
  }
  return {
    add: (piece) => {
      if (piece.text === "") return
      pieces.push(piece)
      size += piece.text.length
      if (isOver() || isBroken) trim()
    },
    take: () => {
      const taken = { dropped, pieces: joined(pieces) }
      pieces = []
      size = 0
      dropped = 0
      return taken
    }
  }
}

/** A byte stream, and the sha256 of the bytes that have passed. */
interface HashedStream<E> {
  readonly bytes: Stream.Stream<Uint8Array, E>
  /** Hash in lower-case hex; read it after the stream has ended. */
  readonly sha256: Effect.Effect<string>
}

/** The sha256 of bytes, or of a text as UTF-8, in lower-case hex. */
export const computeSha256 = (content: Uint8Array | string): string =>
  createHash("sha256").update(content).digest("hex")

/** Hashes a stream while it is consumed; consume it only once. */
export const hashStream = <E>(bytes: Stream.Stream<Uint8Array, E>): Effect.Effect<HashedStream<E>> =>
  Effect.sync(() => {
    const hash = createHash("sha256")
    return {
      bytes: Stream.tap(bytes, (chunk) => Effect.sync(() => hash.update(chunk))),
      sha256: Effect.sync(() => hash.copy().digest("hex"))
    }
  })

interface Carry {
  /** The beginning of the line that has not ended yet. */
  readonly line: string
  /** True when the line is longer than its retained part. */
  readonly cut: boolean
}

const takeLines =
  (longest: number) => ({ cut, line }: Carry, text: string): readonly [Carry, ReadonlyArray<string>] => {
    const [first = "", ...rest] = text.split("\n")
    const begun = cut ? line : line + first
    if (rest.length === 0) {
      return [begun.length > longest ? { line: begun.slice(0, longest), cut: true } : { line: begun, cut }, []]
    }
    const last = rest.pop() ?? ""
    const whole = [begun, ...rest].map((each) => each.slice(0, longest))
    return [{ line: last.slice(0, longest), cut: last.length > longest }, whole]
  }

/**
 * Splits an endless byte stream into lines of at most `longest` characters; memory stays bounded without line breaks.
 * Invalid UTF-8 becomes replacement characters. Text after the last line break is dropped.
 */
export const splitBoundedLines =
  (longest: number) => <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<string, E, R> =>
    Stream.decodeText(bytes).pipe(
      Stream.mapAccum({ line: "", cut: false }, takeLines(longest)),
      Stream.mapConcat((lines) => lines)
    )
