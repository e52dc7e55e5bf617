import { type HttpClient, HttpClientRequest } from "@effect/platform"
import { Duration, Effect, Ref, Schedule, Stream } from "effect"
import { type BerthError, makeUnreachable, readRefusal, toBerthError } from "./BerthError.ts"
import { makeEventReader, type RawEvent } from "./eventText.ts"

/** Event stream that can be resumed after a broken connection. */
export interface EventSource {
  /** Request for the events after the last one received; `undefined` before the first. */
  readonly request: (last: RawEvent | undefined) => HttpClientRequest.HttpClientRequest
  /** True if this event is the last. */
  readonly isEnd: (event: RawEvent) => boolean
  /** True if the service answered a moment ago: then even the first connection is retried. */
  readonly answeredBefore: boolean
}

// Retries for up to a minute: a restart of the service does not end its runs.
const pauses = Schedule.exponential("250 millis", 2).pipe(
  Schedule.union(Schedule.spaced("5 seconds")),
  Schedule.upTo(Duration.seconds(60))
)

/** Parses events from text that arrives in pieces. */
const eventsIn = <E>(text: Stream.Stream<string, E>): Stream.Stream<RawEvent, E> =>
  Stream.suspend(() => Stream.mapConcat(text, makeEventReader()))

/**
 * Streams the events of a source. Reconnects after a broken connection and resumes after the last event; refusals are
 * not retried.
 * @param where display name of the service, usually its address
 */
export const streamServerEvents = (
  client: HttpClient.HttpClient,
  where: string,
  { answeredBefore, isEnd, request }: EventSource
): Stream.Stream<RawEvent, BerthError> =>
  Stream.unwrap(Effect.gen(function*() {
    const last = yield* Ref.make<RawEvent | undefined>(undefined)
    const connection = Effect.gen(function*() {
      const asked = HttpClientRequest.setHeader(request(yield* Ref.get(last)), "accept", "text/event-stream")
      const response = yield* Effect.mapError(client.execute(asked), toBerthError(where))
      if (response.status >= 400) return yield* readRefusal(where, response)
      return response.stream.pipe(
        Stream.mapError((error) => makeUnreachable(where, error)),
        Stream.decodeText(),
        eventsIn,
        Stream.tap((event) => Ref.set(last, event)),
        // A stopping service ends its streams as if they were complete.
        Stream.concat(Stream.fail(makeUnreachable(where, "the connection broke")))
      )
    })
    const isWorthAnother = ({ reason }: BerthError) =>
      Effect.map(Ref.get(last), (heard) => reason === "unreachable" && (answeredBefore || heard !== undefined))
    return Stream.unwrap(connection).pipe(
      Stream.retry(Schedule.whileInputEffect(pauses, isWorthAnother)),
      Stream.takeUntil(isEnd)
    )
  }))
