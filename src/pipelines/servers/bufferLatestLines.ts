import { Effect, Mailbox, Option, Stream } from "effect"
import type { LogEvent, LogLine } from "../../schema/servers/Logs.ts"

/** Most lines buffered for a slow reader. */
const mostWaiting = 1_000
/** Maximum lines in one chunk, because a chunk that waits for a slow reader gets outdated. */
const mostTogether = 64

const someOf = <A, E>(waiting: Mailbox.ReadonlyMailbox<A, E>) =>
  Effect.flatMap(
    waiting.size,
    (size) => waiting.takeN(Math.min(Math.max(Option.getOrElse(size, () => 0), 1), mostTogether))
  )

/** Drains a mailbox in small chunks until it is done. */
const fewByFew = <A, E>(waiting: Mailbox.ReadonlyMailbox<A, E>): Stream.Stream<A, E> =>
  Stream.paginateChunkEffect(
    undefined,
    () => Effect.map(someOf(waiting), ([messages, done]) => [messages, done ? Option.none() : Option.some(undefined)])
  )

/**
 * Buffers lines for a slow reader. When the buffer is full, the oldest lines are dropped and replaced by their number,
 * which bounds memory and keeps lines recent.
 */
export const bufferLatestLines = <E, R>(lines: Stream.Stream<LogLine, E, R>): Stream.Stream<LogEvent, E, R> =>
  Stream.zipWithIndex(lines).pipe(
    (numbered) => Mailbox.fromStream(numbered, { capacity: mostWaiting, strategy: "sliding" }),
    Effect.map(fewByFew),
    Stream.unwrapScoped,
    Stream.mapAccum(0, (expected, [data, index]): readonly [number, ReadonlyArray<LogEvent>] => {
      const line: LogEvent = { event: "line", data }
      const missed = index - expected
      return [index + 1, missed > 0 ? [{ event: "dropped", data: { lines: missed } }, line] : [line]]
    }),
    Stream.mapConcat((events) => events)
  )
