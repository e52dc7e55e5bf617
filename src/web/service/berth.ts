import { FetchHttpClient } from "@effect/platform"
import { Cause, Effect, Exit, Layer, ManagedRuntime, Stream } from "effect"
import { Berth, BerthError, type Call, layer } from "../../client/index.ts"
import type { Run } from "../../schema/runs/Run.ts"
import { notifySessionEnded, ServiceFailure } from "./ServiceFailure.ts"

/** Client of the service that serves this page, made once; the browser sends the session cookie. */
const runtime = ManagedRuntime.make(Layer.provide(layer({ url: "", door: "web" }), FetchHttpClient.layer))

const asFailure = (cause: Cause.Cause<unknown>): ServiceFailure => {
  const failure = Cause.squash(cause)
  if (!(failure instanceof BerthError)) {
    return new ServiceFailure(500, "The service answered something that this page does not understand: load it again")
  }
  if (failure.status === 401) notifySessionEnded()
  return failure.reason === "unreachable"
    ? new ServiceFailure(0, "Berth does not answer. Is the service running?")
    : new ServiceFailure(failure.status ?? 500, failure.message)
}

const outcome = async <A, E>(effect: Effect.Effect<A, E, Berth>, signal?: AbortSignal): Promise<A> => {
  const exit = await runtime.runPromiseExit(effect, signal === undefined ? {} : { signal })
  if (Exit.isSuccess(exit)) return exit.value
  throw asFailure(exit.cause)
}

/** Calls an endpoint; rejects with a `ServiceFailure`. */
export const call = <A>(ask: Call<A>, signal?: AbortSignal): Promise<A> =>
  outcome(Effect.flatMap(Berth, ({ use }) => use(ask)), signal)

/** Starts a run without waiting for its end. */
export const startRun = <A>(ask: Call<A>): Promise<Run> =>
  outcome(Effect.flatMap(Berth, ({ start }) => Effect.map(start(ask), ({ run }) => run)))

/** Callbacks of a stream's reader. */
export interface StreamCallbacks<A> {
  /** Receives batches: items arrive faster than frames are drawn. */
  readonly onEvents: (events: ReadonlyArray<A>) => void
  readonly onFailure: (failure: ServiceFailure) => void
}

/** Reads a stream until it ends or the returned function cancels it. */
export const follow = <A>(
  stream: (berth: Berth["Type"]) => Stream.Stream<A, BerthError>,
  { onEvents, onFailure }: StreamCallbacks<A>
): () => void => {
  const leaving = new AbortController()
  const reading = Effect.flatMap(Berth, (berth) =>
    stream(berth).pipe(
      Stream.groupedWithin(20_000, "60 millis"),
      Stream.runForEach((events) => Effect.sync(() => onEvents([...events])))
    ))
  outcome(reading, leaving.signal).catch((failure: unknown) => {
    if (!leaving.signal.aborted && failure instanceof ServiceFailure) onFailure(failure)
  })
  return () => leaving.abort()
}
