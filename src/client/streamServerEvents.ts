import { type HttpClient, HttpClientRequest } from "@effect/platform"
import { Duration, Effect, Ref, Schedule, Stream } from "effect"
import { type BerthError, makeUnreachable, readRefusal, toBerthError } from "./BerthError.ts"
import { makeEventReader, type RawEvent } from "./eventText.ts"

/** A stream of events that goes on when its connection breaks. */
export interface EventSource {
  /** The request for the events after the last one that was received; nothing was at first. */
  readonly request: (last: RawEvent | undefined) => HttpClientRequest.HttpClientRequest
  /** True if this event is the last. */
  readonly isEnd: (event: RawEvent) => boolean
  /** True if the service answered a moment ago: then even the first connection is retried. */
  readonly answeredBefore: boolean
}

// A restart of the service ends no run: it is waited for, a minute at most.
const pauses = Schedule.exponential("250 millis", 2).pipe(
  Schedule.union(Schedule.spaced("5 seconds")),
  Schedule.upTo(Duration.seconds(60))
)

/** The events in a text that comes in pieces. */
const eventsIn = <E>(text: Stream.Stream<string, E>): Stream.Stream<RawEvent, E> =>
  Stream.suspend(() => Stream.mapConcat(text, makeEventReader()))

/**
 * The events of a source. A connection that breaks is made again after a moment, and goes on after the last event; what
 * the service refuses is not asked again.
 * @param where display name of the service: usually its address
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
        // A service that stops ends its streams as if nothing else would come.
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
