import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import { ApiError } from "../api/annotations/ApiError.ts"
import { toNetwork } from "./toNetwork.ts"

/** Wrong tokens of an address that are answered at once; each further one waits twice as long as the one before it. */
export const freeTries = 3
/** Refusals that may wait at a time, of one address and in all. */
export const mostWaiting = 4
export const mostWaitingInAll = 64
/** Addresses that are remembered; the one that has been quiet for longest is forgotten first. */
export const mostAddresses = 1_000

const memory = Duration.toMillis("1 minute")
const firstWait = 250
const longestWait = 8_000

interface Tries {
  count: number
  lastAt: number
  waiting: number
}

/**
 * Throttles wrong tokens by the address that they come from, with exponential backoff. Tokens are compared first: a right
 * one never gets here, so nobody can lock out anybody else, also not behind a proxy whose address all share.
 */
export class WrongTokens extends Context.Tag("berth/WrongTokens")<WrongTokens, {
  /** Delays the refusal of a wrong token; fails at once where as many as may are delayed already. */
  readonly throttle: (address: Option.Option<string>) => Effect.Effect<void, ApiError>
}>() {}

const tooMany = () =>
  new ApiError({
    status: 429,
    message:
      "Too many wrong tokens came from this address, and this one is wrong too. Check the token: a right one is " +
      "answered at once",
    headers: { "retry-after": String(longestWait / 1_000) }
  })

const waitAfter = (count: number): number =>
  count <= freeTries ? 0 : Math.min(longestWait, firstWait * 2 ** Math.min(count - freeTries - 1, 10))

/** Remembers wrong tokens in the memory of this process. */
export const WrongTokensLive: Layer.Layer<WrongTokens> = Layer.scoped(
  WrongTokens,
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const known = new Map<string, Tries>()
    let waitingInAll = 0

    const record = (network: string, now: number): Tries => {
      const before = known.get(network)
      const tries = before ?? { count: 0, lastAt: now, waiting: 0 }
      tries.count = now - tries.lastAt >= memory ? 1 : tries.count + 1
      tries.lastAt = now
      // A map keeps the order in which its keys were added: the first one has been quiet for longest.
      known.delete(network)
      known.set(network, tries)
      const [quietest] = known.keys()
      if (known.size > mostAddresses && quietest !== undefined) known.delete(quietest)
      return tries
    }

    const wait = (tries: Tries, millis: number) =>
      Effect.suspend(() => {
        tries.waiting += 1
        waitingInAll += 1
        // A caller that breaks off keeps its place until the wait is over.
        return Effect.interruptible(Effect.sleep(millis)).pipe(
          Effect.ensuring(Effect.sync(() => {
            tries.waiting -= 1
            waitingInAll -= 1
          })),
          Effect.forkIn(scope)
        )
      }).pipe(Effect.uninterruptible, Effect.flatMap(Effect.fromFiber))

    return {
      throttle: Effect.fn("WrongTokens.throttle")(function*(address) {
        const tries = record(toNetwork(Option.getOrElse(address, () => "")), yield* Clock.currentTimeMillis)
        const millis = waitAfter(tries.count)
        if (millis === 0) return
        if (tries.waiting >= mostWaiting || waitingInAll >= mostWaitingInAll) return yield* tooMany()
        yield* wait(tries, millis)
      })
    }
  })
)
