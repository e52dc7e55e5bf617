import { Duration, Effect, Layer, Option, Ref, Scope } from "effect"
import { RunStoreUnavailable } from "../../schema/Run.ts"
import { Instance } from "../runs/Instance.ts"
import { lazyRunStore } from "../runs/lazyRunStore.ts"
import { RunStore } from "../runs/RunStore.ts"
import { Settings } from "../settings/Settings.ts"
import { makeRunStoreIn } from "./embeddedRunStore.ts"
import { purging } from "./purging.ts"

const openTimeout = Duration.seconds(15)

const misled = (reason: string) =>
  new RunStoreUnavailable({
    store: "the store that the settings name",
    reason: `${reason}. Correct it, and ask again`
  })

/**
 * Runs in the database of `state.url`, and without that in one beside the settings file. Which it is is looked up with the
 * first use, and stays for as long as the process. Settings that cannot be read never mean the file: others may go on
 * with the same runs.
 * @param holderTimeout how long a call waits for the file while another process has it
 */
export const runStoreLive = (
  file: string,
  holderTimeout: Duration.DurationInput = openTimeout
): Layer.Layer<RunStore, never, Settings | Instance> =>
  Layer.scoped(
    RunStore,
    Effect.gen(function*() {
      const settings = yield* Settings
      const instance = yield* Instance
      const scope = yield* Effect.scope
      const chosen = yield* Ref.make(Option.none<RunStore["Type"]>())
      const choice = yield* Effect.makeSemaphore(1)

      const shared = Effect.gen(function*() {
        const url = yield* settings.find("state.url")
        if (Option.isNone(url)) return Option.none()
        const takeOver = yield* settings.get("state.takeOver")
        // Who has no such database does not load what it takes.
        const { makePgRunStore } = yield* Effect.promise(() => import("./postgres/pgRunStore.ts"))
        const { description, id } = instance
        const store = yield* makePgRunStore(url.value, { id, description, takeOver })
        yield* Effect.forkScoped(Effect.interruptible(purging(store, settings)))
        return Option.some(store)
      }).pipe(Effect.mapError(({ message }) => misled(message)))
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
      return lazyRunStore(choose)
    })
  )
