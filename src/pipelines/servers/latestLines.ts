import { Effect, Mailbox, Option, Stream } from "effect"
import type { LogEvent, LogLine } from "../../schema/Logs.ts"

/** How many lines wait for a reader that is slower than they come. */
const mostWaiting = 1_000
/** How many are handed on together: those grow old with a slow reader. */
const mostTogether = 64

const someOf = <A, E>(waiting: Mailbox.ReadonlyMailbox<A, E>) =>
  Effect.flatMap(
    waiting.size,
    (size) => waiting.takeN(Math.min(Math.max(Option.getOrElse(size, () => 0), 1), mostTogether))
  )

/** What waits in a mailbox, a few at a time, until it is done. */
const fewByFew = <A, E>(waiting: Mailbox.ReadonlyMailbox<A, E>): Stream.Stream<A, E> =>
  Stream.paginateChunkEffect(
    undefined,
    () => Effect.map(someOf(waiting), ([messages, done]) => [messages, done ? Option.none() : Option.some(undefined)])
  )

/**
 * Lines for a reader that may be slow: when too many wait, the oldest are left out and their number is told in their
 * place. So memory stays flat, and what is read is recent.
 */
export const latestLines = <E, R>(lines: Stream.Stream<LogLine, E, R>): Stream.Stream<LogEvent, E, R> =>
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
