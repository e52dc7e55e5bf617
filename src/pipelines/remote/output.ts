import { Effect, Stream } from "effect"

/** The lines of a remote command's output as they come. Bytes that are no UTF-8 become replacement characters. */
export const linesOf = <E>(output: Stream.Stream<Uint8Array, E>): Stream.Stream<string, E> =>
  Stream.splitLines(Stream.decodeText(output))

/** All of a remote command's output, without white space around it. */
export const text = <E>(output: Stream.Stream<Uint8Array, E>): Effect.Effect<string, E> =>
  Effect.map(Stream.mkString(Stream.decodeText(output)), (all) => all.trim())
