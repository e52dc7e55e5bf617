import { Deferred, Duration, Effect, Option, Stream } from "effect"
import { isEnded } from "../../../schema/runs/Run.ts"
import { RunEnded, RunNotFound } from "../../../schema/runs/runFailures.ts"
import { replayEvents } from "../events/replayEvents.ts"
import { cancelPeerRun } from "../peers/cancelPeerRun.ts"
import { watchPeerRun } from "../peers/watchPeerRun.ts"
import type { Runs } from "../Runs.ts"
import { cancelLiveRun, type Engine, findHere, findLiveRun, isHere } from "./Engine.ts"

const cancelTimeout = Duration.seconds(2)

/** Makes the operations of `Runs` on runs that exist, whichever process executes them. */
export const makeReadRuns = (
  engine: Engine
): Pick<Runs["Type"], "get" | "list" | "await" | "events" | "cancel"> => {
  const { peers, store } = engine
  const { history, ownership } = store

  const get: Runs["Type"]["get"] = (id) =>
    Effect.flatMap(
      findHere(engine, id),
      Option.match({
        onSome: Effect.succeed,
        onNone: () => Effect.flatMap(history.find(id), Effect.mapError(() => new RunNotFound({ id })))
      })
    )
  const watch = (id: string, after: Option.Option<number>) =>
    Effect.as(peers.listen, watchPeerRun(history, id, after, peers.changesOf(id)))
  const awaitPeer = (id: string) => Effect.flatMap(watch(id, Option.none()), Stream.runDrain)

  return {
    get,
    list: (query) =>
      Effect.flatMap(history.list(query), ({ next, runs }) =>
        Effect.map(
          Effect.forEach(runs, (run) => Effect.map(findHere(engine, run.id), Option.getOrElse(() => run))),
          (runs) => ({ runs, next })
        )),
    await: (id) =>
      Effect.gen(function*() {
        const run = yield* findLiveRun(engine, id)
        if (run !== undefined) yield* Deferred.await(run.ended)
        const now = yield* get(id)
        if (isEnded(now.state) || !(yield* ownership.isShared)) return now
        yield* awaitPeer(id)
        return yield* get(id)
      }),
    events: (id, after) =>
      Effect.gen(function*() {
        const run = yield* findLiveRun(engine, id)
        if (run !== undefined) return run.log.watch(after, run.now)
        const now = yield* get(id)
        if (!isEnded(now.state) && (yield* ownership.isShared)) return yield* watch(id, after)
        return yield* replayEvents(history, now, after)
      }),
    cancel: (id) =>
      Effect.gen(function*() {
        const run = yield* findLiveRun(engine, id)
        const now = yield* get(id)
        if (isEnded(now.state)) return yield* new RunEnded({ id, kind: now.kind, state: now.state })
        if (run === undefined) {
          yield* cancelPeerRun(store, now, {
            isHere: () => isHere(engine, id),
            ended: Effect.timeoutOption(awaitPeer(id), cancelTimeout)
          })
        } else {
          yield* cancelLiveRun(run)
          yield* Effect.timeoutOption(Deferred.await(run.ended), cancelTimeout)
        }
        return yield* get(id).pipe(Effect.catchTag("RunNotFound", () => Effect.succeed(now)))
      })
  }
}
