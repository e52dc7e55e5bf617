import { Clock, Deferred, Effect, Either, Option, Ref } from "effect"
import { runLimit, TooManyRuns } from "../../../schema/basics/concurrencyLimits.ts"
import { type RunFailure, ServiceStopping } from "../../../schema/runs/runFailures.ts"
import { makeConcurrencyLimiter } from "../../limits/concurrencyLimiter.ts"
import { isSameJson, scrubJson } from "../../secrets/scrubbedJson.ts"
import { secretsInUse } from "../../secrets/secretsInUse.ts"
import { Settings } from "../../settings/Settings.ts"
import { awaitRecovery } from "../peers/awaitRecovery.ts"
import { makeRunIds } from "../runId.ts"
import { RunRequest } from "../RunRequest.ts"
import type { Runs, RunSpec, StartedRun } from "../Runs.ts"
import type { Steps } from "../Steps.ts"
import type { StoredRun } from "../StoredRun.ts"
import { runWorkflow } from "../workflow/runWorkflow.ts"
import { type Engine, isHere } from "./Engine.ts"
import { launchRun } from "./launchRun.ts"

/** Makes the queued run of the current request. */
const newRun = <A, I>(spec: RunSpec<A, I>, id: string): Effect.Effect<StoredRun, never, Settings> =>
  Effect.gen(function*() {
    const { idempotency, parent, requestedBy } = yield* RunRequest
    const requestedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    // A request that contains a secret is not stored: no other process can resume such a run.
    const request = isSameJson(spec.request, scrubJson(spec.request, yield* secretsInUse)) ? spec.request : null
    return {
      run: {
        id,
        kind: spec.kind,
        subject: spec.subject,
        state: "queued",
        requestedBy,
        ...parent === undefined ? {} : { parent },
        requestedAt,
        startedAt: null,
        endedAt: null,
        steps: [],
        result: null,
        error: null
      },
      request,
      workflow: runWorkflow(spec.kind).name,
      queue: spec.key.name,
      idempotency,
      attempt: 1
    }
  })

/** Makes `Runs.start`, with its limit and the ids that it gives. */
export const makeStartRun = (engine: Engine): Effect.Effect<Runs["Type"]["start"]> =>
  Effect.map(makeRunIds, (nextId) => {
    const { isStopping, peers, recovered, rejected, settings, starting, store } = engine
    const limiter = makeConcurrencyLimiter(runLimit)
    return <A, I, E extends { readonly message: string }, R>(
      spec: RunSpec<A, I>,
      program: Effect.Effect<A, E, R>
    ): Effect.Effect<StartedRun<A, E>, RunFailure, Exclude<R, Steps>> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          yield* restore(store.history.ready)
          yield* peers.listen
          const behind = { queue: spec.key.name, isHere: (id: string) => isHere(engine, id), recovered }
          yield* restore(awaitRecovery(store.ownership, behind))
          if (yield* Ref.get(isStopping)) return yield* new ServiceStopping()
          const request = yield* RunRequest
          const stored = yield* Effect.provideService(newRun(spec, yield* nextId), Settings, settings)
          const { id, requestedBy } = stored.run
          // The run that it belongs to has its part of the limit, and must not wait for another one.
          const release = request.parent === undefined
            ? yield* Effect.mapError(limiter.take(requestedBy.name), (full) => new TooManyRuns(full))
            : Effect.void
          const inserted = yield* Deferred.make<void>()
          const launched = yield* Effect.gen(function*() {
            starting.set(id, Deferred.await(inserted))
            const earlier = yield* store.history.insert(stored)
            if (Option.isSome(earlier)) return Either.left(earlier.value)
            const start = { run: stored.run, attempt: stored.attempt, stepResults: [] }
            return Either.right(yield* launchRun(engine, spec, program, start, release))
          }).pipe(
            Effect.onError(() => Effect.zipRight(Effect.sync(() => rejected.add(id)), release)),
            Effect.ensuring(Effect.suspend(() => {
              starting.delete(id)
              return Deferred.succeed(inserted, undefined)
            }))
          )
          if (Either.isLeft(launched)) {
            yield* release
            yield* request.isUsed(launched.left)
            return yield* restore(Effect.never)
          }
          yield* request.started(launched.right.run)
          return launched.right
        })
      )
  })
