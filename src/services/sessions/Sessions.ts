import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import { createHash, randomBytes } from "node:crypto"

/** After how long without a request a session ends, and after how long it does in any case. */
export const idleTime = Duration.hours(12)
export const longestTime = Duration.days(7)
/** Sessions that a token has at most; one more ends the one of the same token that was used longest ago. */
export const mostSessions = 50

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
  /** The session of an id, without using it. */
  readonly peek: (id: string) => Effect.Effect<Option.Option<OpenSession>>
  readonly close: (id: string) => Effect.Effect<void>
}>() {}

/** What is kept instead of a secret. */
export const digestOf = (secret: string): string => createHash("sha256").update(secret).digest("hex")

const endOf = ({ openedAt, usedAt }: Kept): number =>
  Math.min(openedAt + Duration.toMillis(longestTime), usedAt + Duration.toMillis(idleTime))

const shownOf = (session: Kept): OpenSession => ({
  name: session.name,
  tokenDigest: session.tokenDigest,
  expiresAt: endOf(session)
})

/** Sessions in the memory of this process. */
export const SessionsLive: Layer.Layer<Sessions> = Layer.sync(Sessions, () => {
  // A map keeps the order in which its keys were added: the first session was used longest ago.
  const kept = new Map<string, Kept>()
  const withNow = <A>(f: (now: number) => A) => Effect.map(Clock.currentTimeMillis, f)

  const openAt = (key: string, now: number): Option.Option<Kept> => {
    const session = Option.fromNullable(kept.get(key))
    if (Option.exists(session, (session) => endOf(session) > now)) return session
    kept.delete(key)
    return Option.none()
  }
  const use = (key: string, session: Kept) => {
    kept.delete(key)
    kept.set(key, session)
  }

  return {
    open: ({ name, tokenDigest }) =>
      withNow((now) => {
        for (const [key, session] of kept) if (endOf(session) <= now) kept.delete(key)
        const own = [...kept].filter(([, session]) => session.tokenDigest === tokenDigest)
        const [oldest] = own
        if (own.length >= mostSessions && oldest !== undefined) kept.delete(oldest[0])
        const id = randomBytes(32).toString("base64url")
        use(digestOf(id), { name, tokenDigest, openedAt: now, usedAt: now })
        return id
      }),
    find: (id) =>
      withNow((now) => {
        const key = digestOf(id)
        return Option.map(openAt(key, now), (session) => {
          const used = { ...session, usedAt: now }
          use(key, used)
          return shownOf(used)
        })
      }),
    peek: (id) => withNow((now) => Option.map(openAt(digestOf(id), now), shownOf)),
    close: (id) => Effect.sync(() => void kept.delete(digestOf(id)))
  }
})
