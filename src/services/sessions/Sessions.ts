import { Clock, Context, Duration, Effect, Layer, Option, Ref } from "effect"
import { createHash, randomBytes } from "node:crypto"

/** After how long without a request a session ends, and after how long it does in any case. */
export const idleTime = Duration.hours(12)
export const longestTime = Duration.days(7)
/** How many sessions are open at most; one more ends the one that was used longest ago. */
export const mostSessions = 1_000

/** Whose session it is: a token of the settings, which must still be there, by its name and its digest. */
export interface SessionOwner {
  readonly name: string
  readonly tokenDigest: string
}

/** A session that was found, and when it ends if nobody uses it again, in milliseconds since 1970. */
export interface OpenSession extends SessionOwner {
  readonly expiresAt: number
}

interface Kept extends SessionOwner {
  readonly openedAt: number
  readonly usedAt: number
}

/**
 * Who has logged in with a browser. A session is known by an id that says nothing of the token; it is kept in memory, by
 * the digest of its id, and ends with the process.
 */
export class Sessions extends Context.Tag("berth/Sessions")<Sessions, {
  /** Opens a session and answers its id, a secret of its holder. */
  readonly open: (owner: SessionOwner) => Effect.Effect<string>
  /** The session of an id, which counts as used by that. */
  readonly find: (id: string) => Effect.Effect<Option.Option<OpenSession>>
  readonly close: (id: string) => Effect.Effect<void>
}>() {}

/** What is kept instead of a secret. */
export const digestOf = (secret: string): string => createHash("sha256").update(secret).digest("hex")

const endOf = ({ openedAt, usedAt }: Kept): number =>
  Math.min(openedAt + Duration.toMillis(longestTime), usedAt + Duration.toMillis(idleTime))

/** Sessions in the memory of this process. */
export const SessionsLive: Layer.Layer<Sessions> = Layer.effect(
  Sessions,
  Effect.map(Ref.make<ReadonlyMap<string, Kept>>(new Map()), (kept) => {
    const change = <A>(f: (now: number, sessions: Map<string, Kept>) => A) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Ref.modify(kept, (before) => {
          const sessions = new Map([...before].filter(([, session]) => endOf(session) > now))
          return [f(now, sessions), sessions]
        }))
    return Sessions.of({
      open: ({ name, tokenDigest }) =>
        change((now, sessions) => {
          const id = randomBytes(32).toString("base64url")
          // A map keeps the order in which its entries were set: the first was used longest ago.
          const [oldest] = sessions.keys()
          if (sessions.size >= mostSessions && oldest !== undefined) sessions.delete(oldest)
          sessions.set(digestOf(id), { name, tokenDigest, openedAt: now, usedAt: now })
          return id
        }),
      find: (id) =>
        change((now, sessions) => {
          const key = digestOf(id)
          const session = sessions.get(key)
          if (session === undefined) return Option.none()
          const used = { ...session, usedAt: now }
          sessions.delete(key)
          sessions.set(key, used)
          return Option.some({ name: used.name, tokenDigest: used.tokenDigest, expiresAt: endOf(used) })
        }),
      close: (id) => change((_, sessions) => void sessions.delete(digestOf(id)))
    })
  })
)
