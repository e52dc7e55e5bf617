import { Clock, Context, Duration, Effect, type Either, Option, type Redacted, Ref } from "effect"

/** Value of a secret, or the reason why it has none. */
export type Resolution = Either.Either<Redacted.Redacted<Uint8Array>, string>

/**
 * Remembers what was resolved, so that one plan or deploy runs equal commands once, also when it decides again or has
 * several servers.
 */
export type SecretMemory = Ref.Ref<ReadonlyMap<string, Resolution>>

const makeSecretMemory: Effect.Effect<SecretMemory> = Ref.make<ReadonlyMap<string, Resolution>>(new Map())

/** Memory of a deploy to several targets; its deploys and plans share it. */
class SharedSecrets extends Context.Reference<SharedSecrets>()("berth/SharedSecrets", {
  defaultValue: (): Option.Option<SecretMemory> => Option.none()
}) {}

/** Lets the plans and deploys of an effect share what they resolve. */
export const shareSecrets = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(
    makeSecretMemory,
    (memory) => Effect.provideService(effect, SharedSecrets, Option.some(memory))
  )

interface Planned {
  readonly at: number
  readonly memory: SecretMemory
}

/** Long enough to read a plan, short enough that values do not stay in memory. */
const keptFor = Duration.toMillis("15 minutes")
const mostPlans = 32

/** Secrets of the latest plans of this process, by plan hash. */
class PlannedSecrets extends Context.Reference<PlannedSecrets>()("berth/PlannedSecrets", {
  defaultValue: () => Ref.unsafeMake<ReadonlyMap<string, Planned>>(new Map())
}) {}

const recent = (all: ReadonlyMap<string, Planned>, now: number) => [...all].filter(([, { at }]) => now - at < keptFor)

/** Memory for a plan or a deploy: the one of its plan, if this process has just made it, or a new one. */
export const findSecretMemory = (planHash: string | undefined): Effect.Effect<SecretMemory> =>
  Effect.gen(function*() {
    const shared = yield* SharedSecrets
    if (Option.isSome(shared)) return shared.value
    const plans = new Map(recent(yield* Ref.get(yield* PlannedSecrets), yield* Clock.currentTimeMillis))
    return (planHash === undefined ? undefined : plans.get(planHash)?.memory) ?? (yield* makeSecretMemory)
  })

/** Keeps what a plan has resolved for the deploy that it binds, so that nobody is asked twice. */
export const keepForPlan = (planHash: string, memory: SecretMemory): Effect.Effect<void> =>
  Effect.gen(function*() {
    if ((yield* Ref.get(memory)).size === 0) return
    const at = yield* Clock.currentTimeMillis
    yield* Ref.update(yield* PlannedSecrets, (all) =>
      new Map([
        ...recent(all, at).filter(([hash]) => hash !== planHash),
        [planHash, { at, memory }] as const
      ].slice(-mostPlans)))
  })
