import { Effect, Fiber, Option, Stream } from "effect"
import { type FileRange, LocalFileFailed } from "./LocalFiles.ts"
import { type NotReadable, openRegular, readInto } from "./openRegular.ts"

const chunkSize = 256 * 1024

/** Adds the path to a read failure. */
export const mapReadError = (path: string) =>
  Effect.mapError(({ message: reason }: NotReadable) => new LocalFileFailed({ path, reason }))

/** Reads a file in chunks, each in a buffer of its own. */
export const streamFile = (name: string, { bytes = Number.POSITIVE_INFINITY, offset }: FileRange = { offset: 0 }) =>
  Stream.unwrapScoped(Effect.map(mapReadError(name)(openRegular(name)), (file) => {
    let position = offset
    let left = bytes
    return Stream.repeatEffectOption(Effect.gen(function*() {
      const memory = new Uint8Array(Math.min(chunkSize, left))
      const read = yield* Effect.asSomeError(mapReadError(name)(readInto(file, memory, position)))
      if (read === 0) return yield* Effect.fail(Option.none())
      position += read
      left -= read
      return memory.subarray(0, read)
    }))
  }))

/** Reads a file with two alternating buffers: one is lent to the reader while the other is filled. */
export const streamLentChunks = (
  name: string,
  { bytes = Number.POSITIVE_INFINITY, offset }: FileRange = { offset: 0 }
) =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const scope = yield* Effect.scope
    const file = yield* mapReadError(name)(openRegular(name))
    let memory = [new Uint8Array(chunkSize), new Uint8Array(chunkSize)] as const
    let position = offset
    let left = bytes
    const fill = Effect.suspend(() => {
      const target = memory[0].subarray(0, Math.min(chunkSize, left))
      return Effect.map(mapReadError(name)(readInto(file, target, position)), (read) => {
        position += read
        left -= read
        return target.subarray(0, read)
      })
    }).pipe(Effect.forkIn(scope))
    let filling = yield* fill
    return Stream.repeatEffectOption(Effect.gen(function*() {
      const chunk = yield* Effect.asSomeError(Fiber.join(filling))
      if (chunk.length === 0) return yield* Effect.fail(Option.none())
      memory = [memory[1], memory[0]]
      filling = yield* fill
      return chunk
    }))
  }))
