import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import { createHash, randomBytes } from "node:crypto"

/** Lifetime of a session without requests, and in any case. */
export const idleTime = Duration.hours(12)
export const longestTime = Duration.days(7)
/** Lifetime of a ticket, and the maximum number of unused ones. */
export const ticketTime = Duration.minutes(1)
const mostTickets = 20
/** Prefix of tickets, which tells them from tokens. */
export const ticketPrefix = "ticket_"

/** Maximum number of sessions per token; opening another one closes the least recently used. */
export const mostSessions = 50

/** Token of the settings that opened a session; the session is invalid once the settings no longer contain it. */
export interface SessionOwner {
  readonly name: string
  readonly tokenDigest: string
}

/** A session, and its end if it is not used again, in milliseconds since 1970. */
interface OpenSession extends SessionOwner {
  readonly expiresAt: number
}

interface Kept extends SessionOwner {
  readonly openedAt: number
  readonly usedAt: number
}

/**
 * Sessions of browsers. Ids are random, independent of the token. Sessions are stored in memory by the digest of their
 * ids, and end with the process.
 */
export class Sessions extends Context.Tag("berth/Sessions")<Sessions, {
  /** Opens a session and returns its id, a secret of the browser. */
  readonly open: (owner: SessionOwner) => Effect.Effect<string>
  /** Finds a session and extends it. */
  readonly find: (id: string) => Effect.Effect<Option.Option<OpenSession>>
  /** Finds a session without extending it. */
  readonly peek: (id: string) => Effect.Effect<Option.Option<OpenSession>>
  readonly close: (id: string) => Effect.Effect<void>
  /** Issues a ticket, which opens one session in place of a token. */
  readonly issueTicket: (owner: SessionOwner) => Effect.Effect<string>
  /** Redeems a ticket; none if it is unknown, expired or was redeemed already. */
  readonly redeemTicket: (ticket: string) => Effect.Effect<Option.Option<SessionOwner>>
}>() {}

export const digestSecret = (secret: string): string => createHash("sha256").update(secret).digest("hex")

const endOf = ({ openedAt, usedAt }: Kept): number =>
  Math.min(openedAt + Duration.toMillis(longestTime), usedAt + Duration.toMillis(idleTime))

const shownOf = (session: Kept): OpenSession => ({
  name: session.name,
  tokenDigest: session.tokenDigest,
  expiresAt: endOf(session)
})

export const SessionsLive: Layer.Layer<Sessions> = Layer.sync(Sessions, () => {
  // Ordered by last use, as a map keeps the order of insertion.
  const kept = new Map<string, Kept>()
  const tickets = new Map<string, SessionOwner & { readonly expiresAt: number }>()
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
        use(digestSecret(id), { name, tokenDigest, openedAt: now, usedAt: now })
        return id
      }),
    find: (id) =>
      withNow((now) => {
        const key = digestSecret(id)
        return Option.map(openAt(key, now), (session) => {
          const used = { ...session, usedAt: now }
          use(key, used)
          return shownOf(used)
        })
      }),
    peek: (id) => withNow((now) => Option.map(openAt(digestSecret(id), now), shownOf)),
    close: (id) => Effect.sync(() => void kept.delete(digestSecret(id))),
    issueTicket: ({ name, tokenDigest }) =>
      withNow((now) => {
        for (const [key, { expiresAt }] of tickets) if (expiresAt <= now) tickets.delete(key)
        const [oldest] = tickets.keys()
        if (tickets.size >= mostTickets && oldest !== undefined) tickets.delete(oldest)
        const ticket = `${ticketPrefix}${randomBytes(32).toString("base64url")}`
        tickets.set(digestSecret(ticket), { name, tokenDigest, expiresAt: now + Duration.toMillis(ticketTime) })
        return ticket
      }),
    redeemTicket: (ticket) =>
      withNow((now) => {
        const key = digestSecret(ticket)
        const found = Option.filter(Option.fromNullable(tickets.get(key)), ({ expiresAt }) => expiresAt > now)
        tickets.delete(key)
        return Option.map(found, ({ name, tokenDigest }) => ({ name, tokenDigest }))
      })
  }
})
