import { Deferred, Duration, Effect, Schedule, type Scope } from "effect"
import { Socket } from "node:net"
import type { ServerHostKeyAlgorithm } from "ssh2"
import type { ServerAccess } from "../../../schema/servers/Server.ts"
import { AuthenticationFailed, HostKeyChanged, ServerUnreachable } from "../../../schema/servers/Ssh.ts"
import { parseHostKey } from "../../hostKeys/hostKey.ts"
import { HostKeys } from "../../hostKeys/HostKeys.ts"
import {
  type ConnectFailure,
  fellSilent,
  hungUp,
  isMethodFailure,
  makeProtocolFailure,
  toConnectFailure
} from "./connectFailure.ts"
import { detectOtherProtocol } from "./detectOtherProtocol.ts"
import { keepAlive, watchSilence } from "./keepAlive.ts"
import { type ConnectError, pickServerFields, type SshConnection } from "./liveConnection.ts"
import { loadSsh2 } from "./loadSsh2.ts"
import { collectLoginMethods, type LoginMethods, makeAuthSequence } from "./logIn.ts"
import { forward, type JumpConnection } from "./throughJump.ts"

/** Time-out of connecting and logging in, retries included. */
const connectTime = Duration.seconds(15)

const rsa: ReadonlyArray<ServerHostKeyAlgorithm> = ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"]
const known: ReadonlyArray<ServerHostKeyAlgorithm> = [
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521"
]

/** Host key algorithms for a server, those of the stored keys first. */
const preferring = (types: ReadonlyArray<string>) => {
  const first = [...known.filter((name) => types.includes(name)), ...types.includes("ssh-rsa") ? rsa : []]
  return [...first, ...[...known, ...rsa].filter((name) => !first.includes(name))]
}

interface Presented {
  readonly blob: Buffer
  readonly accept: (valid: boolean) => void
}

/** Connects once: holds the client, and its events as values that effects can await. */
const open = (
  server: ServerAccess,
  plan: LoginMethods,
  types: ReadonlyArray<string>,
  jump: JumpConnection | undefined
) =>
  Effect.gen(function*() {
    const ssh2 = yield* loadSsh2
    const presented = yield* Deferred.make<Presented, ConnectFailure>()
    const ready = yield* Deferred.make<void, ConnectFailure>()
    const lost = yield* Deferred.make<never, string>()
    const turns = makeAuthSequence(plan, server.username)
    const watchers = new Set<() => void>()
    let broken = false
    const onLost = (tell: () => void) => {
      if (broken) tell()
      else watchers.add(tell)
      return () => void watchers.delete(tell)
    }
    const channel = jump === undefined ? undefined : yield* forward(jump, server)
    const client = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const client = new ssh2.Client()
        const socket = channel ?? new Socket()
        const received = { bytesRead: 0 }
        let greeted = false
        let stopWatching = () => {}
        let accepted: Buffer | undefined
        const end = ({ reason, ...kind }: ConnectFailure) => {
          const failure = jump === undefined
            ? { reason, ...kind }
            : { reason: `${reason} (through the jump host ${jump.name})`, ...kind }
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
          stopWatching = watchSilence(received, () => end(fellSilent))
          Deferred.unsafeDone(ready, Effect.void)
        })
        client.on(
          "change password",
          () => end({ ...hungUp, reason: "the password has expired and must be changed first" })
        )
        client.on("error", (error: Error) => {
          if (isMethodFailure(error)) turns.note(error.message)
          else end(toConnectFailure(error, greeted))
        })
        client.on("end", () => end(hungUp))
        client.on("close", () => end(hungUp))
        socket.on("data", (bytes: Buffer) => {
          received.bytesRead += bytes.length
        })
        socket.once("data", (first: Buffer) => {
          const protocol = detectOtherProtocol(first)
          if (protocol !== undefined) end(makeProtocolFailure(protocol))
        })
        if (socket instanceof Socket) {
          // Nagle's algorithm would delay the small packets of a command by 40 ms each.
          socket.setNoDelay(true)
          socket.connect({ host: server.host, port: server.port })
        }
        client.connect({
          sock: socket,
          username: server.username,
          readyTimeout: 0,
          ...keepAlive,
          algorithms: { serverHostKey: preferring(types) },
          authHandler: (methods: ReadonlyArray<string> | null) => turns.next(methods),
          hostVerifier: (blob: Buffer, verify: (valid: boolean) => void) => {
            greeted = true
            // A busy connection repeats the key exchange: it must present the accepted host key again.
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
 * Connects to a server and logs in; the connection closes with the scope. A host key other than the stored one is
 * refused before any credential is sent. Retries when the server hangs up before its greeting, as sshd does when too
 * many clients log in at once.
 * @param channelsAtOnce maximum number of open channels
 * @param jump jump host of the connection; it stays connected while the scope is open
 */
export const connectServer = (
  server: ServerAccess,
  channelsAtOnce: number,
  jump?: JumpConnection
): Effect.Effect<SshConnection, ConnectError, HostKeys | Scope.Scope> =>
  Effect.gen(function*() {
    const keys = yield* HostKeys
    const plan = yield* collectLoginMethods(server)
    const unreachable = (reason: string) => new ServerUnreachable({ ...pickServerFields(server), reason })
    const keysUnavailable = (cause: { readonly message: string }) => unreachable(cause.message)
    const types = yield* Effect.mapError(keys.knownTypes(server), keysUnavailable)

    const attempt = Effect.gen(function*() {
      const { client, lost, onLost, presented, ready, turns } = yield* open(server, plan, types, jump)
      const { accept, blob } = yield* Deferred.await(presented)
      const verdict = yield* Effect.mapError(keys.check(server, parseHostKey(blob)), keysUnavailable)
      if (typeof verdict === "object") {
        accept(false)
        return yield* new HostKeyChanged({ ...pickServerFields(server), ...verdict })
      }
      accept(true)
      yield* Deferred.await(ready).pipe(
        Effect.catchIf((failure) => failure.turnedDown, () =>
          new AuthenticationFailed({ ...pickServerFields(server), username: server.username, ...turns.outcome() }))
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
