import { type Headers, HttpServerResponse } from "@effect/platform"
import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import { longestTime } from "../services/Sessions.ts"
import { ApiError, hostCookie, plainCookie } from "./api/annotations.ts"

const groupsOf = (text: string) => text.split(":").filter((group) => group !== "")

/**
 * Key that tells callers apart: an IPv4 address, also if mapped into IPv6, or the /64 network of an IPv6 address, since
 * one owner usually has the whole network.
 */
export const toNetwork = (address: string): string => {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !address.includes(":")) return mapped ?? address
  const [before = "", after] = address.split("::")
  const [first, last] = [groupsOf(before), groupsOf(after ?? "")]
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => "0")
  return `${[...first, ...zeros, ...last].slice(0, 4).join(":")}::/64`
}

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

const idForm = /^[\w-]{43}$/

/** True if the page was served over https, behind a proxy. */
export const isSecure = (headers: Headers.Headers): boolean =>
  headers["origin"]?.startsWith("https://") === true ||
  headers["x-forwarded-proto"]?.split(",")[0]?.trim().toLowerCase() === "https"

const valuesOf = (header: string, wanted: string): ReadonlyArray<string> =>
  header.split(";").flatMap((pair) => {
    const [name, ...value] = pair.split("=")
    return name?.trim() === wanted ? [value.join("=").trim()] : []
  })

/**
 * Session id in a request's cookies; none if the cookie occurs twice. On https only the `__Host-` cookie counts,
 * because another host of the same domain may have set the plain one.
 */
export const readSessionId = (headers: Headers.Headers): Option.Option<string> => {
  const cookies = headers["cookie"] ?? ""
  const fromHost = valuesOf(cookies, hostCookie)
  const ids = fromHost.length > 0 || isSecure(headers) ? fromHost : valuesOf(cookies, plainCookie)
  const [id] = ids
  return ids.length === 1 && id !== undefined && idForm.test(id) ? Option.some(id) : Option.none()
}

const nameFor = (secure: boolean) => secure ? hostCookie : plainCookie
const attributes = (secure: boolean) => ({ httpOnly: true, sameSite: "strict", path: "/", secure } as const)

/** Sets the session cookie, unreadable for scripts and not sent with requests of other sites. */
export const withSession = (id: string, secure: boolean) => (response: HttpServerResponse.HttpServerResponse) =>
  HttpServerResponse.unsafeSetCookie(response, nameFor(secure), id, {
    ...attributes(secure),
    maxAge: Duration.seconds(Math.floor(Duration.toSeconds(longestTime)))
  })

/** Clears the session cookie. */
export const withoutSession = (secure: boolean) => (response: HttpServerResponse.HttpServerResponse) =>
  HttpServerResponse.unsafeSetCookie(response, nameFor(secure), "", { ...attributes(secure), maxAge: Duration.zero })
