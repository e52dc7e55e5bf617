import { Deferred, Duration, Effect, Schedule, type Scope } from "effect"
import { Socket } from "node:net"
import type { ClientChannel, ServerHostKeyAlgorithm } from "ssh2"
import { AuthenticationFailed, HostKeyChanged, type ServerAccess, ServerUnreachable } from "../../schema/ssh.ts"
import { HostKeys, parseHostKey } from "../HostKeys.ts"
import {
  collectLoginMethods,
  type ConnectError,
  type ConnectFailure,
  fellSilent,
  hungUp,
  isMethodFailure,
  loadSsh2,
  type LoginMethods,
  makeAuthSequence,
  makeProtocolFailure,
  pickServerFields,
  type SshConnection,
  toConnectFailure,
  watchHandshake
} from "./logIn.ts"

/** Greetings of other protocols, and their replies to SSH's own greeting. */
const greetings: ReadonlyArray<readonly [RegExp, string]> = [
  [/^(?:HTTP\/|<(?:!doctype|html))/i, "HTTP"],
  [/^[\x15\x16]\x03/, "TLS"],
  [/^220[ -]/, "SMTP or FTP"],
  [/^(?:\+OK|\* OK)/, "mail"],
  [/^-ERR/, "Redis"],
  [/^RFB /, "VNC"],
  [/^(?:.\0\0\0[\x09\x0a\xff])/s, "MySQL"]
]

/**
 * Recognizes another protocol by its first bytes. Unknown bytes may still become SSH: a server may send other lines
 * before its identification (RFC 4253, 4.2).
 */
export const detectOtherProtocol = (first: Uint8Array): string | undefined => {
  const begin = Buffer.from(first.subarray(0, 32)).toString("latin1")
  return greetings.find(([pattern]) => pattern.test(begin))?.[1]
}

const tick = 1_000
const mostTicks = 20

/** Keepalive of ssh2: a request every 5 seconds. Only `onSilence` evaluates the replies. */
const keepAlive = { keepaliveInterval: 5_000, keepaliveCountMax: Number.POSITIVE_INFINITY }

/**
 * Calls back when a connection has received nothing for 20 seconds; returns a function that stops watching. Any
 * received data counts, not only replies: on a slow line the requests queue behind outgoing data for longer than that.
 */
export const watchSilence = (socket: Pick<Socket, "bytesRead">, tell: () => void): () => void => {
  let read = socket.bytesRead
  let silent = 0
  const timer = setInterval(() => {
    silent = socket.bytesRead === read ? silent + 1 : 0
    read = socket.bytesRead
    if (silent < mostTicks) return
    clearInterval(timer)
    tell()
  }, tick)
  return () => clearInterval(timer)
}

/** A logged-in jump host, and its name in messages. */
export interface JumpConnection {
  readonly name: string
  readonly connection: Pick<SshConnection, "client" | "lost">
}

const refused = (reason: string): ConnectFailure => ({ reason, dropped: false, turnedDown: false })

/** Opens a channel from a jump host to the server's SSH port; it closes with the scope. */
export const forward = (
  { connection: { client, lost }, name }: JumpConnection,
  { host, port }: Pick<ServerAccess, "host" | "port">
): Effect.Effect<ClientChannel, ConnectFailure, Scope.Scope> =>
  Effect.gen(function*() {
    // Kept outside of the request: an interruption may occur between its reply and the next step of this fiber.
    let isOpen = true
    let opened: ClientChannel | undefined
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isOpen = false
        opened?.destroy()
      })
    )
    const request = Effect.async<ClientChannel, ConnectFailure>((resume) => {
      const fail = ({ message }: Error) => {
        const words = message.replace(/^.*?Channel open failure: /, "")
        resume(Effect.fail(refused(`the jump host ${name} could not connect to it: ${words}`)))
      }
      try {
        client.forwardOut("127.0.0.1", 0, host, port, (error, channel) => {
          if (error !== undefined) return fail(error)
          if (!isOpen) return void channel.destroy()
          // The server greets at once: pauses the channel until the log-in has registered its listeners.
          channel.pause()
          opened = channel
          resume(Effect.succeed(channel))
        })
      } catch (error) {
        fail(error instanceof Error ? error : new Error(String(error)))
      }
    })
    const broken = Effect.mapError(
      Deferred.await(lost),
      (reason) => refused(`the connection to the jump host ${name} was lost: ${reason}`)
    )
    return yield* Effect.raceFirst(request, broken)
  })

/** Adds the server behind a jump host to a failure of the jump host. */
export const toJumpFailure = (
  server: Pick<ServerAccess, "host" | "name" | "port">,
  via: Pick<ServerAccess, "name">
) =>
(error: ConnectError): ConnectError => {
  const jump = `jump host of ${server.name}`
  switch (error._tag) {
    case "AuthenticationFailed":
      return new AuthenticationFailed({ ...error, server: jump })
    case "HostKeyChanged":
      return new HostKeyChanged({ ...error, server: jump })
    case "ServerUnreachable":
      return new ServerUnreachable({
        server: server.name,
        host: server.host,
        port: server.port,
        reason: `its jump host ${via.name} cannot be used: ${error.reason}`
      })
  }
}

/** Time-out of connecting and logging in, retries included. */
const connectTime = Duration.seconds(15)

const rsa: ReadonlyArray<ServerHostKeyAlgorithm> = ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"]
const known: ReadonlyArray<ServerHostKeyAlgorithm> = [
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521"
]

const algorithmsOf = (types: ReadonlyArray<string>) => [
  ...known.filter((name) => types.includes(name)),
  ...types.includes("ssh-rsa") ? rsa : []
]

/** Host key algorithms for a server, those of the stored keys first. Omits types that it has presented already. */
const preferring = (types: ReadonlyArray<string>, presented: ReadonlyArray<string>) => {
  const first = algorithmsOf(types)
  const others = [...known, ...rsa].filter((name) => !first.includes(name))
  const seen = algorithmsOf(presented)
  return [...first, ...others].filter((name) => !seen.includes(name))
}

/** True if a server has no key of the types that it was asked for, or presented no key at all. */
const isUnanswered = (failure: ConnectError | ConnectFailure): boolean =>
  !("_tag" in failure) || failure._tag !== "AuthenticationFailed"

interface Presented {
  readonly blob: Buffer
  readonly accept: (valid: boolean) => void
}

/** Connects once: holds the client, and its events as values that effects can await. */
const open = (
  server: ServerAccess,
  plan: LoginMethods,
  algorithms: Array<ServerHostKeyAlgorithm>,
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
        const handshake = watchHandshake()
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
          else end(toConnectFailure(error, greeted, handshake.describe(error)))
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
          debug: handshake.hear,
          algorithms: { serverHostKey: algorithms },
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

    type Attempt = Effect.Effect<
      Pick<SshConnection, "client" | "lost" | "onLost">,
      ConnectError | ConnectFailure,
      Scope.Scope
    >
    const attempt = (seen: ReadonlyArray<string>): Attempt =>
      Effect.gen(function*() {
        const algorithms = preferring(types, seen)
        const { client, lost, onLost, presented, ready, turns } = yield* open(server, plan, algorithms, jump)
        const { accept, blob } = yield* Deferred.await(presented)
        const key = parseHostKey(blob)
        const verdict = yield* Effect.mapError(keys.check(server, key), keysUnavailable)
        if (typeof verdict === "object") {
          accept(false)
          const refusal = new HostKeyChanged({ ...pickServerFields(server), ...verdict })
          const after = [...seen, key.type]
          // A fingerprint does not tell its type: the required key may be another one of the server's.
          if (verdict.isRequired !== true || preferring(types, after).length === 0) return yield* refusal
          return yield* Effect.catchIf(attempt(after), isUnanswered, () => refusal)
        }
        accept(true)
        yield* Deferred.await(ready).pipe(
          Effect.catchIf(
            (failure) => failure.turnedDown,
            ({ reason }) =>
              new AuthenticationFailed({
                ...pickServerFields(server),
                username: server.username,
                ...turns.outcome(reason)
              })
          )
        )
        return { client, lost, onLost }
      })

    const { client, lost, onLost } = yield* attempt([]).pipe(
      Effect.retry({
        while: (failure) => "dropped" in failure && failure.dropped,
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
