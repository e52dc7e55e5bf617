import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Clock, Context, Effect, Layer, Option, Schedule, Schema, type Scope, Stream } from "effect"
import { TooManyStreams } from "../schema/basics.ts"
import type { RequestedBy } from "../schema/runs.ts"
import { CurrentCaller } from "../services/access/Caller.ts"
import { makeConcurrencyLimiter, streamLimit } from "../services/limits.ts"

/** Server-sent event; `data` is JSON. A client that reconnects sends the `id` of its last event, if events have ids. */
export interface ServerEvent {
  readonly id?: number
  readonly event: string
  readonly data: string
}

// Encodes each event once for all watchers of a run.
const written = new WeakMap<ServerEvent, Uint8Array>()
const encoder = new TextEncoder()
const bytesOf = (event: ServerEvent): Uint8Array => {
  const before = written.get(event)
  if (before !== undefined) return before
  const { data, event: name, id } = event
  const bytes = encoder.encode(`${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${data}\n\n`)
  written.set(event, bytes)
  return bytes
}

// Keeps streams alive: proxies and browsers drop silent connections, and a write detects that the caller is gone.
const signsOfLife = Stream.as(Stream.fromSchedule(Schedule.spaced("15 seconds")), encoder.encode(": nothing new\n\n"))

/** Pause between two writes of a stream, in milliseconds per open stream: at most 500 writes a second in total. */
const pauseMillis = 2

/**
 * Answers of server-sent events. Bounds the number of open streams and the share of time that they take from other
 * requests.
 */
export class EventStreams extends Context.Tag("berth/EventStreams")<EventStreams, {
  /**
   * Opens a stream for the caller until the scope closes. The answer lasts until the events end or the caller
   * disconnects.
   */
  readonly open: Effect.Effect<
    <E>(events: Stream.Stream<ServerEvent, E>) => HttpServerResponse.HttpServerResponse,
    TooManyStreams,
    Scope.Scope
  >
}>() {}

export const EventStreamsLive: Layer.Layer<EventStreams> = Layer.sync(EventStreams, () => {
  const limiter = makeConcurrencyLimiter(streamLimit)
  /** Emits the first events at once, and later ones paced by the number of open streams. */
  const paced = <E>(events: Stream.Stream<ServerEvent, E>): Stream.Stream<ServerEvent, E> =>
    Stream.suspend(() => {
      let next = 0
      return Stream.mapChunksEffect(events, (chunk) =>
        Effect.gen(function*() {
          const early = next - (yield* Clock.currentTimeMillis)
          if (early > 0) yield* Effect.sleep(early)
          next = (yield* Clock.currentTimeMillis) + limiter.taken() * pauseMillis
          return chunk
        }))
    })
  return {
    open: Effect.gen(function*() {
      const { name } = yield* CurrentCaller
      yield* Effect.acquireRelease(
        Effect.mapError(limiter.take(name), (exhausted) => new TooManyStreams(exhausted)),
        (release) => release
      )
      return <E>(events: Stream.Stream<ServerEvent, E>) =>
        HttpServerResponse.stream(
          Stream.merge(Stream.map(paced(events), bytesOf), signsOfLife, { haltStrategy: "left" }),
          { contentType: "text/event-stream", headers: { "x-accel-buffering": "no" } }
        )
    })
  }
})

/** Runs a part of a lazily loaded module, so that rarely used code does not slow the start. */
export const loadOnUse = <Module, A, E, R>(
  load: () => Promise<Module>,
  run: (module: Module) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => Effect.flatMap(Effect.promise(load), run)

/** Client named by the caller. Web pages of other sites cannot forge it, because the guard refuses them. */
const doorOf = Schema.decodeUnknownOption(Schema.Literal("cli", "mcp", "web", "script"))

/** The caller of the current request, and the door that it names. */
export const requester: Effect.Effect<RequestedBy, never, HttpServerRequest.HttpServerRequest> = Effect.gen(
  function*() {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const { name } = yield* CurrentCaller
    return { door: Option.getOrElse(doorOf(headers["berth-door"]), () => "http" as const), name }
  }
)

/** Weight of a media type in an `Accept` header; 0 where it is not named. */
const weightOf = (accept: string, type: string): number =>
  Math.max(
    0,
    ...accept.split(",").flatMap((range) => {
      const [name = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase())
      const weight = parameters.find((each) => each.startsWith("q="))
      return name === type ? [weight === undefined ? 1 : Number(weight.slice(2)) || 0] : []
    })
  )

/** Answers with a report in Markdown where the request prefers that to JSON (`Accept: text/markdown`). */
export const orMarkdown = <A, E, R>(
  answer: Effect.Effect<A, E, R>,
  format: (value: A) => Effect.Effect<string>
): Effect.Effect<A | HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.gen(function*() {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const accept = headers["accept"] ?? ""
    const value = yield* answer
    if (weightOf(accept, "text/markdown") <= weightOf(accept, "application/json")) return value
    return HttpServerResponse.text(yield* format(value), { contentType: "text/markdown; charset=utf-8" })
  })
