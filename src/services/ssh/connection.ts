import { Deferred, Duration, Effect, Schedule } from "effect"
import type { Scope } from "effect"
import { Socket } from "node:net"
import type { Client, ServerHostKeyAlgorithm } from "ssh2"
import type { ServerAccess } from "../../schema/Server.ts"
import { AuthenticationFailed, ConnectionLost, HostKeyChanged, ServerUnreachable } from "../../schema/Ssh.ts"
import { concernsOneMethod, failureOf, fellSilent, hungUp, otherwise } from "./connectFailure.ts"
import type { Failure } from "./connectFailure.ts"
import { hostKey, HostKeys } from "./HostKeys.ts"
import { loadSsh2 } from "./loadSsh2.ts"
import { inTurn, logIn } from "./logIn.ts"
import type { LogIn } from "./logIn.ts"
import { otherProtocol } from "./otherProtocol.ts"
import { keepAlive, onSilence } from "./silence.ts"

/** How long it may take to reach a server and to log in, retries included. */
const connectTime = Duration.seconds(15)
/** A live connection, logged in. */
export interface Connection {
  readonly client: Client
  /** Fails with the reason when the connection breaks. */
  readonly lost: Deferred.Deferred<never, string>
  /** Calls back when the connection breaks, at once where it is broken; answers how to take that back. */
  readonly onLost: (tell: () => void) => () => void
  /** Done when a channel on it did not close: those who come later need another connection. */
  readonly spent: Deferred.Deferred<void>
  readonly slots: Effect.Semaphore
  readonly scope: Scope.Scope
}

/** Why there is no connection. */
export type ConnectError = AuthenticationFailed | HostKeyChanged | ServerUnreachable

/** The fields by which every error names a server. */
export const where = ({ host, name, port }: Pick<ServerAccess, "host" | "name" | "port">) => ({
  server: name,
  host,
  port
})

/** Whether a connection takes no new work. */
export const isOver = ({ lost, spent }: Connection): Effect.Effect<boolean> =>
  Effect.zipWith(Deferred.isDone(lost), Deferred.isDone(spent), (lost, spent) => lost || spent)

/** Fails when the connection breaks. */
export const untilLost = (
  server: ServerAccess,
  { lost }: Pick<Connection, "lost">
): Effect.Effect<never, ConnectionLost> =>
  Effect.mapError(Deferred.await(lost), (reason) => new ConnectionLost({ ...where(server), reason }))

/** Fails where the connection is broken. */
export const stillConnected = (server: ServerAccess, connection: Connection): Effect.Effect<void, ConnectionLost> =>
  Effect.flatMap(Deferred.isDone(connection.lost), (lost) => lost ? untilLost(server, connection) : Effect.void)

const rsa: ReadonlyArray<ServerHostKeyAlgorithm> = ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"]
const known: ReadonlyArray<ServerHostKeyAlgorithm> = [
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521"
]

/** Host key algorithms for a server, those of the remembered keys first. */
const preferring = (types: ReadonlyArray<string>) => {
  const first = [...known.filter((name) => types.includes(name)), ...types.includes("ssh-rsa") ? rsa : []]
  return [...first, ...[...known, ...rsa].filter((name) => !first.includes(name))]
}

interface Presented {
  readonly blob: Buffer
  readonly accept: (valid: boolean) => void
}

/** One attempt: the client, and what happens to it as values that effects can wait for. */
const open = (server: ServerAccess, plan: LogIn, types: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const ssh2 = yield* loadSsh2
    const presented = yield* Deferred.make<Presented, Failure>()
    const ready = yield* Deferred.make<void, Failure>()
    const lost = yield* Deferred.make<never, string>()
    const turns = inTurn(plan, server.username)
    const watchers = new Set<() => void>()
    let broken = false
    const onLost = (tell: () => void) => {
      if (broken) tell()
      else watchers.add(tell)
      return () => void watchers.delete(tell)
    }
    const client = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const client = new ssh2.Client()
        const socket = new Socket()
        let greeted = false
        let stopWatching = () => {}
        let accepted: Buffer | undefined
        const end = (failure: Failure) => {
          Deferred.unsafeDone(presented, Effect.fail(failure))
          Deferred.unsafeDone(ready, Effect.fail(failure))
          Deferred.unsafeDone(lost, Effect.fail(failure.reason))
          broken = true
          stopWatching()
          for (const tell of watchers) tell()
          watchers.clear()
          socket.destroy()
        }
        client.on("ready", () => {
          stopWatching = onSilence(socket, () => end(fellSilent))
          Deferred.unsafeDone(ready, Effect.void)
        })
        client.on(
          "change password",
          () => end({ ...hungUp, reason: "the password has expired and must be changed first" })
        )
        client.on("error", (error: Error) => {
          if (concernsOneMethod(error)) turns.note(error.message)
          else end(failureOf(error, greeted))
        })
        client.on("end", () => end(hungUp))
        client.on("close", () => end(hungUp))
        // Nagle's algorithm would hold the small packets of a command back for 40 ms each.
        socket.setNoDelay(true)
        socket.once("data", (first: Buffer) => {
          const protocol = otherProtocol(first)
          if (protocol !== undefined) end(otherwise(protocol))
        })
        socket.connect({ host: server.host, port: server.port })
        client.connect({
          sock: socket,
          username: server.username,
          readyTimeout: 0,
          ...keepAlive,
          algorithms: { serverHostKey: preferring(types) },
          authHandler: (methods: ReadonlyArray<string> | null) => turns.next(methods),
          hostVerifier: (blob: Buffer, verify: (valid: boolean) => void) => {
            greeted = true
            // A busy connection exchanges keys again: it has to be the host key that was accepted.
            if (accepted !== undefined) return verify(accepted.equals(blob))
            const accept = (valid: boolean) => {
              if (valid) accepted = blob
              verify(valid)
            }
            Deferred.unsafeDone(presented, Effect.succeed({ blob, accept }))
          }
        })
        return { client, socket }
      }),
      ({ client, socket }) =>
        Effect.sync(() => {
          client.end()
          socket.destroy()
        })
    )
    return { client: client.client, presented, ready, lost, onLost, turns }
  })

/**
 * Connects to a server and logs in; the connection closes with the scope. A host key other than the remembered one is
 * refused before any credential is sent. A server that hangs up before it greets is asked again, as sshd does that
 * when too many log in at once.
 * @param channelsAtOnce how many channels are open at most
 */
export const connect = (
  server: ServerAccess,
  channelsAtOnce: number
): Effect.Effect<Connection, ConnectError, HostKeys | Scope.Scope> =>
  Effect.gen(function*() {
    const keys = yield* HostKeys
    const plan = yield* logIn(server)
    const unreachable = (reason: string) => new ServerUnreachable({ ...where(server), reason })
    const keysUnavailable = (cause: { readonly message: string }) => unreachable(cause.message)
    const types = yield* Effect.mapError(keys.knownTypes(server.host, server.port), keysUnavailable)

    const attempt = Effect.gen(function*() {
      const { client, lost, onLost, presented, ready, turns } = yield* open(server, plan, types)
      const { accept, blob } = yield* Deferred.await(presented)
      const verdict = yield* Effect.mapError(keys.check(server.host, server.port, hostKey(blob)), keysUnavailable)
      if (typeof verdict === "object") {
        accept(false)
        return yield* new HostKeyChanged({ ...where(server), ...verdict, file: keys.file })
      }
      accept(true)
      yield* Deferred.await(ready).pipe(
        Effect.catchIf((failure) => failure.turnedDown, () =>
          new AuthenticationFailed({ ...where(server), username: server.username, ...turns.outcome() }))
      )
      return { client, lost, onLost }
    })

    const { client, lost, onLost } = yield* attempt.pipe(
      Effect.retry({
        while: (failure) =>
          "dropped" in failure && failure.dropped,
        schedule: Schedule.jittered(Schedule.exponential("200 millis")),
        times: 5
      }),
      Effect.mapError((failure) =>
        "dropped" in failure
          ? unreachable(
            failure.dropped ? `${failure.reason}; it may be turning new connections away for a while` : failure.reason
          )
          : failure
      ),
      Effect.timeoutFail({
        duration: connectTime,
        onTimeout: () => unreachable(`no answer within ${Duration.toSeconds(connectTime)} seconds`)
      })
    )
    return {
      client,
      lost,
      onLost,
      spent: yield* Deferred.make<void>(),
      slots: yield* Effect.makeSemaphore(channelsAtOnce),
      scope: yield* Effect.scope
    }
  }).pipe(Effect.withSpan("Ssh.connect", { attributes: { server: server.name } }))
