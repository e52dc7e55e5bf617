import { SqlError } from "@effect/sql/SqlError"
import { Deferred, Effect, Redacted, type Scope } from "effect"
import { Socket } from "node:net"
import { Client, type ClientBase, type ClientConfig, type QueryResult } from "pg"

/** One connection to a database. */
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
