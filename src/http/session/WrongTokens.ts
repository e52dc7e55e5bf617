import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import { ApiError } from "../api/annotations/ApiError.ts"
import { toNetwork } from "./toNetwork.ts"

/** Wrong tokens per address that are answered without delay; the delay doubles with each further one. */
export const freeTries = 3
/** Maximum number of delayed refusals per address, and in total. */
export const mostWaiting = 4
export const mostWaitingInAll = 64
/** Maximum number of addresses to remember; the least recently seen is dropped first. */
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
 * Throttles wrong tokens by address, with exponential backoff. Tokens are compared first, so that a valid token is
 * never throttled, even behind a proxy whose address all callers share.
 */
export class WrongTokens extends Context.Tag("berth/WrongTokens")<WrongTokens, {
  /** Delays the refusal of a wrong token; fails at once if too many refusals are delayed already. */
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

/** Keeps the counts in the memory of this process. */
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
      // Maps keep insertion order: the first key is the least recently seen address.
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
        // A caller that disconnects keeps its slot until the delay is over.
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
