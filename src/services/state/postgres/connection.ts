import { SqlError } from "@effect/sql/SqlError"
import { Data, Deferred, Effect, Predicate, Redacted, type Scope } from "effect"
import { Socket } from "node:net"
import { Client, type ClientBase, type ClientConfig, type QueryResult } from "pg"

/** Connection to a database. */
export interface PgSession {
  readonly query: (text: string, values?: ReadonlyArray<unknown>) => Effect.Effect<QueryResult, SqlError>
  /** Fails when the connection is lost. */
  readonly lost: Effect.Effect<never, SqlError>
}

const connectMillis = 5_000

/** Wraps the server's reason in an error of `@effect/sql`. */
export const makeSqlFailure = (cause: unknown) => new SqlError({ cause, message: "PostgreSQL" })

// PostgreSQL detects a lost client within a few seconds, and releases its locks.
const preparation = `SET search_path TO berth;
SET tcp_keepalives_idle = 1; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3;
SET tcp_user_timeout = 4000; SET idle_in_transaction_session_timeout = 10000`

/** Sets the schema and the timeouts of a new connection. */
export const prepareSession = async (client: ClientBase): Promise<void> => void await client.query(preparation)

/** Sockets that are destroyed with the scope, regardless of pending operations. */
const makeSockets = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => new Set<Socket>()),
    (sockets) => Effect.sync(() => sockets.forEach((socket) => socket.destroy()))
  ),
  (sockets) => () => {
    const socket = new Socket()
    sockets.add(socket)
    return socket.once("close", () => sockets.delete(socket))
  }
)

/** Options of connections that end with the scope. */
export const buildConnectionOptions = (
  url: Redacted.Redacted,
  description: string
): Effect.Effect<ClientConfig, never, Scope.Scope> =>
  Effect.map(makeSockets, (stream) => ({
    connectionString: Redacted.value(url),
    stream,
    connectionTimeoutMillis: connectMillis,
    keepAlive: true,
    keepAliveInitialDelayMillis: 1_000,
    application_name: `berth ${description}`.slice(0, 63)
  }))

/** Waits briefly for the end of a connection: its socket is destroyed with the scope anyway. */
export const closeConnection = (end: () => Promise<void>): Effect.Effect<void> =>
  Effect.ignore(Effect.timeout(Effect.interruptible(Effect.tryPromise(end)), "500 millis"))

/**
 * Opens one connection until the scope closes.
 * @param notified receives the payload of each notification
 */
export const openPgSession = (
  options: ClientConfig,
  notified: (payload: string) => void = () => undefined
): Effect.Effect<PgSession, SqlError, Scope.Scope> =>
  Effect.gen(function*() {
    const lost = yield* Deferred.make<never, SqlError>()
    const lose = (cause: unknown) => void Deferred.unsafeDone(lost, Effect.fail(makeSqlFailure(cause)))
    const client = new Client(options)
    client.on("error", lose).on("end", () => lose("the connection was closed"))
    client.on("notification", ({ payload }) => notified(payload ?? ""))
    const attempt = <A>(evaluate: () => Promise<A>) => Effect.tryPromise({ try: evaluate, catch: makeSqlFailure })
    yield* Effect.acquireRelease(attempt(() => client.connect()), () => closeConnection(() => client.end()))
    yield* attempt(() => prepareSession(client))
    return {
      query: (text, values = []) => attempt(() => client.query(text, [...values])),
      lost: Deferred.await(lost)
    }
  })

/** The schema `berth`, or an object in it, belongs to a role other than the one that connects. */
export class ForeignSchema extends Data.TaggedError("ForeignSchema")<{
  readonly kind: string
  readonly name: string
  readonly owner: string
  readonly role: string
}> {
  get reason() {
    const what = this.kind === "schema" ? "the schema berth in it" : `the ${this.kind} ${this.name} in its schema berth`
    return `${what} belongs to the role ${this.owner}, but state.url connects as ${this.role}: the owner could read and ` +
      `change every run. Nothing was changed there. If ${this.owner} is the role of your services, put it into ` +
      "state.url; else check what the schema contains, and drop it (DROP SCHEMA berth CASCADE)"
  }
}

/** Error code of PostgreSQL, or of the system if the connection failed; empty when there is none. */
export const readPgCode = (error: unknown): string => {
  const cause = Predicate.hasProperty(error, "cause") ? error.cause : error
  return Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? cause.code : ""
}

const later = "What needs no history of runs works meanwhile, and runs go on by themselves when it is back"

const reasons: ReadonlyArray<readonly [code: RegExp, reason: string]> = [
  [/^(ECONNREFUSED|ENOENT|57P0[123])$/, `it does not take connections. Check that it is started. ${later}`],
  [/^(ENOTFOUND|EAI_AGAIN)$/, `its host name is not known here. Check state.url in the settings. ${later}`],
  [/^28/, "it refuses the user or the password. Check state.url in the settings"],
  [/^3D000$/, "there is no database of that name. Create it, or correct state.url in the settings"],
  [
    /^42501$/,
    "its user lacks a right. Make that user the owner of the database, or create the schema for it: " +
    "CREATE SCHEMA berth AUTHORIZATION, followed by its name"
  ],
  [/^25006$/, "it can only be read: it is a standby. Let state.url lead to the primary"],
  [/^53300$/, `it has too many connections already. Raise its max_connections. ${later}`],
  [/^53100$/, `its disk is full. Free some space there. ${later}`],
  [/^42P01$/, "its tables are missing. Restart this service, which makes them"],
  [/^(E[A-Z]+|08.*|)$/, `it cannot be reached. Check that it is up, and the network to it. ${later}`]
]

/** Explains an error of PostgreSQL to users, without the password. */
export const describePgError = (error: unknown): string =>
  Predicate.hasProperty(error, "cause") && error.cause instanceof ForeignSchema
    ? error.cause.reason
    : reasons.find(([code]) => code.test(readPgCode(error)))?.[1] ??
      `it answered with the error ${readPgCode(error)}. ${later}`
