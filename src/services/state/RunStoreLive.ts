import { Duration, Effect, type Layer, Option, Ref, Scope } from "effect"
import { RunStoreUnavailable } from "../../schema/runs/runFailures.ts"
import { Instance } from "../runs/Instance.ts"
import { makeLazyRunStore } from "../runs/makeLazyRunStore.ts"
import type { Outbox } from "../runs/Outbox.ts"
import type { RunHistory } from "../runs/RunHistory.ts"
import type { RunOwnership } from "../runs/RunOwnership.ts"
import { stateLayer, type StateStore } from "../runs/RunStore.ts"
import { Settings } from "../settings/Settings.ts"
import { makeRunStoreIn } from "./embedded/embeddedRunStore.ts"
import { purgeRuns } from "./sql/purgeRuns.ts"

const openTimeout = Duration.seconds(15)

const invalidSettings = (reason: string) =>
  new RunStoreUnavailable({
    store: "the store that the settings name",
    reason: `${reason}. Correct it, and ask again`
  })

/**
 * Store in the database of `state.url`, by default in a file beside the settings. Resolved on first use, for the lifetime
 * of the process. Unreadable settings never fall back to the file: peers may be executing the same runs.
 * @param holderTimeout time that a call waits for the file while another process holds it
 */
export const runStoreLive = (
  file: string,
  holderTimeout: Duration.DurationInput = openTimeout
): Layer.Layer<Outbox | RunHistory | RunOwnership, never, Settings | Instance> =>
  stateLayer(
    Effect.gen(function*() {
      const settings = yield* Settings
      const instance = yield* Instance
      const scope = yield* Effect.scope
      const chosen = yield* Ref.make(Option.none<StateStore>())
      const choice = yield* Effect.makeSemaphore(1)

      const shared = Effect.gen(function*() {
        const url = yield* settings.find("state.url")
        if (Option.isNone(url)) return Option.none()
        const takeOver = yield* settings.get("state.takeOver")
        // Loads the PostgreSQL client only if it is used.
        const { makePgRunStore } = yield* Effect.promise(() => import("./postgres/pgRunStore.ts"))
        const { description, id } = instance
        const store = yield* makePgRunStore(url.value, { id, description, takeOver })
        yield* Effect.forkScoped(Effect.interruptible(purgeRuns(store.history, settings)))
        return Option.some(store)
      }).pipe(Effect.mapError(({ message }) => invalidSettings(message)))
      const choose = Effect.gen(function*() {
        const before = yield* Ref.get(chosen)
        if (Option.isSome(before)) return before.value
        const store = yield* Effect.flatMap(
          shared,
          Option.match({ onNone: () => makeRunStoreIn(file, openTimeout, holderTimeout), onSome: Effect.succeed })
        )
        yield* Ref.set(chosen, Option.some(store))
        return store
      }).pipe(
        Effect.provideService(Settings, settings),
        Effect.provideService(Scope.Scope, scope),
        Effect.uninterruptible,
        choice.withPermits(1)
      )
      return makeLazyRunStore(choose)
    })
  )
