import { Clock, Duration, Effect, Layer, Option } from "effect"
import type { Locks } from "../../locks/Locks.ts"
import type { Settings } from "../../settings/Settings.ts"
import { idempotencyPeriod } from "../idempotency.ts"
import type { RunHistory } from "../RunHistory.ts"
import type { RunOwnership } from "../RunOwnership.ts"
import { Runs } from "../Runs.ts"
import { drainTimeout } from "./drainRuns.ts"
import { isHere, makeEngine } from "./Engine.ts"
import { makeReadRuns } from "./readRuns.ts"
import { makeRecoverUnowned } from "./recoverUnowned.ts"
import { makeStartRun } from "./startRun.ts"

const keyMillis = Duration.toMillis(idempotencyPeriod)

const make = (drain: Duration.DurationInput) =>
  Effect.gen(function*() {
    const engine = yield* makeEngine(drain)
    const { store: { history, ownership }, writer } = engine
    const start = yield* makeStartRun(engine)
    return Runs.of({
      start,
      run: (spec, program) => Effect.flatMap(start(spec, program), ({ result }) => result),
      ...makeReadRuns(engine),
      recover: yield* makeRecoverUnowned(engine),
      findByKey: (key, since) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => history.findByKey(key, since ?? now - keyMillis)),
      isHere: (id) => Effect.sync(() => isHere(engine, id)),
      count: history.count,
      isShared: ownership.isShared,
      checkStore: Effect.gen(function*() {
        const size = yield* history.check
        const failure = yield* writer.failure
        return Option.isSome(failure) ? yield* failure.value : size
      })
    })
  })

/** @param drain time that a shutdown gives runs before it interrupts them, which reverts the changes that they began */
export const runsLayer = (
  drain: Duration.DurationInput
): Layer.Layer<Runs, never, Locks | RunHistory | RunOwnership | Settings> => Layer.scoped(Runs, make(drain))

export const RunsLive = runsLayer(drainTimeout)
