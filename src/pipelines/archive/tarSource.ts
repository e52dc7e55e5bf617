import { Chunk, Effect, Option, type Scope, Stream } from "effect"
import { decompress, type GunzipFailed } from "../../services/bytes/gunzip.ts"
import { type LocalFileFailed, LocalFiles } from "../../services/local/LocalFiles.ts"

/** Sequential reader of a tar. */
export interface TarSource {
  /** Returns the next bytes; fewer only at the end. */
  readonly take: (bytes: number) => Effect.Effect<Uint8Array, LocalFileFailed | GunzipFailed>
  /** Skips the next bytes. */
  readonly skip: (bytes: number) => Effect.Effect<void, LocalFileFailed | GunzipFailed>
}

const windowSize = 64 * 1024

const join = (all: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [first] = all
  if (first !== undefined && all.length === 1) return first
  const joined = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0))
  all.reduce((at, chunk) => {
    joined.set(chunk, at)
    return at + chunk.length
  }, 0)
  return joined
}

/** Uncompressed tar; only the taken ranges are read. */
export const makePlainSource = (path: string): Effect.Effect<TarSource, never, LocalFiles> =>
  Effect.map(LocalFiles, (files) => {
    let position = 0
    let window: { readonly offset: number; readonly bytes: Uint8Array } = { offset: 0, bytes: new Uint8Array() }
    const read = (offset: number, bytes: number) =>
      Effect.map(Stream.runCollect(files.stream(path, { offset, bytes })), (all) => join(Chunk.toReadonlyArray(all)))
    return {
      take: (bytes) =>
        Effect.gen(function*() {
          if (position < window.offset || position + bytes > window.offset + window.bytes.length) {
            window = { offset: position, bytes: yield* read(position, Math.max(bytes, windowSize)) }
          }
          const taken = window.bytes.subarray(position - window.offset, position - window.offset + bytes)
          position += taken.length
          return taken
        }),
      skip: (bytes) =>
        Effect.sync(() => {
          position += bytes
        })
    }
  })

/** Gzip-compressed tar, decompressed while it is read. */
export const makeGzipSource = (path: string): Effect.Effect<TarSource, never, LocalFiles | Scope.Scope> =>
  Effect.gen(function*() {
    const bytes = decompress((yield* LocalFiles).stream(path))
    const pull = yield* Stream.toPull(bytes)
    const next = Effect.catchAll(
      Effect.asSome(pull),
      Option.match({ onNone: () => Effect.succeedNone, onSome: Effect.fail<LocalFileFailed | GunzipFailed> })
    )
    let left: Uint8Array = new Uint8Array()

    /** Passes the next bytes on in pieces, up to the given number or the end. */
    const each = (bytes: number, use: (piece: Uint8Array) => void) =>
      Effect.gen(function*() {
        for (let missing = bytes; missing > 0;) {
          if (left.length === 0) {
            const chunk = yield* next
            if (Option.isNone(chunk)) return
            left = join(Chunk.toReadonlyArray(chunk.value))
          }
          const piece = left.subarray(0, missing)
          use(piece)
          left = left.subarray(piece.length)
          missing -= piece.length
        }
      })

    return {
      take: (bytes) =>
        Effect.gen(function*() {
          const pieces: Array<Uint8Array> = []
          yield* each(bytes, (piece) => pieces.push(piece))
          return join(pieces)
        }),
      skip: (bytes) => each(bytes, () => undefined)
    }
  })
