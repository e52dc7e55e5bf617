import { NodeStream } from "@effect/platform-node"
import { Clock, Deferred, Duration, Effect, FiberId, FiberSet, Redacted, Ref, type Scope, Stream } from "effect"
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { createHash, generateKeyPairSync } from "node:crypto"
import { createServer, type Socket } from "node:net"
import { constants } from "node:os"
import { delimiter } from "node:path"
import type { Readable, Writable } from "node:stream"
import ssh2, { type AuthContext, type Connection, type ServerChannel, type Session } from "ssh2"
import { listenOnLoopback, loopback, SandboxFailed } from "./httpDouble.ts"
import { serveSftp } from "./sftp.ts"

interface SshCommandOptions {
  readonly session: Session
  readonly channel: ServerChannel
  /** Completes when the channel or its connection has closed. */
  readonly gone: Effect.Effect<void>
  readonly command: string
  readonly home: string
  readonly environment: NodeJS.ProcessEnv
}

const isSignal = (name: string): name is NodeJS.Signals => name in constants.signals
const onWindows = process.platform === "win32"
// Grace period between SIGHUP and SIGKILL of a process group.
const gracePeriod = Duration.seconds(1)

const start = ({ command, environment, home }: SshCommandOptions) =>
  Effect.async<ChildProcessWithoutNullStreams, SandboxFailed>((resume) => {
    const child = spawn("sh", ["-c", command], { cwd: home, env: environment, detached: !onWindows })
    child.once("spawn", () => resume(Effect.succeed(child)))
    child.once("error", ({ message }) => {
      const reason = onWindows ? "a POSIX sh is needed on the PATH, Git for Windows has one" : message
      resume(Effect.fail(new SandboxFailed({ part: "shell", reason })))
    })
  })

/** Signals the process group; ignores that it may have ended. */
const signalGroup = (child: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): Effect.Effect<void> =>
  Effect.ignore(
    Effect.try(() => child.pid !== undefined && process.kill(onWindows ? child.pid : -child.pid, signal))
  )

const awaitExit = (child: ChildProcessWithoutNullStreams) =>
  Effect.async<number | NodeJS.Signals>((resume) => {
    const end = (code: number | null, signal: NodeJS.Signals | null) => resume(Effect.succeed(code ?? signal ?? 255))
    if (child.exitCode !== null || child.signalCode !== null) end(child.exitCode, child.signalCode)
    else child.once("exit", end)
  })

/** Sends SIGHUP, waits for the grace period, and kills the rest of the process group. */
const endGroup = (child: ChildProcessWithoutNullStreams): Effect.Effect<void> =>
  signalGroup(child, "SIGHUP").pipe(
    Effect.zipRight(
      Effect.raceFirst(Effect.interruptible(awaitExit(child)), Effect.interruptible(Effect.sleep(gracePeriod)))
    ),
    Effect.zipRight(signalGroup(child, "SIGKILL"))
  )

/** Closes the command's streams and sends SIGHUP, which it may ignore. */
const hangUp = (child: ChildProcessWithoutNullStreams): Effect.Effect<void> =>
  Effect.zipRight(
    Effect.sync(() => [child.stdin, child.stdout, child.stderr].forEach((stream) => stream.destroy())),
    signalGroup(child, "SIGHUP")
  )

/**
 * Serializes writes and clears the chunk that each left: ssh2 keeps the last chunk that waited for the client's window
 * and would send it again when the other stream waits.
 */
const write = (channel: ServerChannel, to: Writable, chunk: Uint8Array) =>
  Effect.async<void>((resume) => {
    to.write(chunk, () => {
      for (const left of ["_chunk", "_chunkcb", "_chunkErr", "_chunkcbErr"]) Reflect.set(channel, left, undefined)
      resume(Effect.void)
    })
  })

const reportExit = (channel: ServerChannel, exit: number | NodeJS.Signals) =>
  Effect.try(() => typeof exit === "number" ? channel.exit(exit) : channel.exit(exit)).pipe(
    // SSH lacks names for some signals.
    Effect.orElse(() => Effect.sync(() => channel.exit(255)))
  )

/** Pipes between a channel and its command until the command ends. */
const serve = ({ channel, session }: SshCommandOptions, child: ChildProcessWithoutNullStreams) =>
  Effect.gen(function*() {
    // Drains the channel after the command closed its input.
    child.stdin.on("error", () => channel.resume())
    channel.pipe(child.stdin)
    const fork = yield* FiberSet.makeRuntime<never>()
    session.on("signal", (_accept, _reject, { name }) => {
      const signal = `SIG${name}`
      if (isSignal(signal)) fork(signalGroup(child, signal))
    })

    const one = yield* Effect.makeSemaphore(1)
    const copy = (from: Readable, to: Writable) =>
      NodeStream.fromReadable<SandboxFailed, Uint8Array>(
        () => from,
        (error) => new SandboxFailed({ part: "shell", reason: String(error) })
      ).pipe(
        Stream.runForEach((chunk) => one.withPermits(1)(write(channel, to, chunk)))
      )
    yield* Effect.all([copy(child.stdout, channel), copy(child.stderr, channel.stderr)], {
      concurrency: 2,
      discard: true
    })
    yield* reportExit(channel, yield* awaitExit(child))
  })

/**
 * Runs a command on a channel and reports its exit code or signal. If the channel closes first, the process group gets
 * SIGHUP, which frees its locks; a command that ignores it runs on, as on a real server. Interruption kills it.
 */
const serveCommand = (options: SshCommandOptions): Effect.Effect<void> => {
  const { channel, gone } = options
  channel.on("error", () => undefined)
  const run = Effect.gen(function*() {
    const child = yield* Effect.acquireRelease(start(options), endGroup)
    const left = gone.pipe(Effect.zipRight(hangUp(child)), Effect.zipRight(awaitExit(child)))
    yield* Effect.raceFirst(serve(options, child), left)
  })
  return run.pipe(
    Effect.scoped,
    Effect.catchAll(({ message }) =>
      Effect.zipRight(write(channel, channel.stderr, Buffer.from(`${message}\n`)), reportExit(channel, 127)).pipe(
        Effect.raceFirst(gone)
      )
    ),
    Effect.ensuring(Effect.sync(() => channel.end())),
    Effect.withSpan("serveCommand")
  )
}

/** Authentication method of the server. */
type LoginMethod = "password" | "keyboard-interactive" | "publickey"

const defaultUsername = "sandbox"

interface LoginOptions {
  readonly password: Redacted.Redacted
  /** `sandbox` when absent. */
  readonly username?: string
  /** `password` alone when absent. */
  readonly methods?: ReadonlyArray<LoginMethod>
  /** Authorized keys in OpenSSH's format, for the method `publickey`. */
  readonly authorizedKeys?: ReadonlyArray<string>
}

const isAuthorized = (context: AuthContext, keys: ReadonlyArray<string>): boolean => {
  if (context.method !== "publickey") return false
  return keys.some((line) => {
    const key = ssh2.utils.parseKey(line)
    if (key instanceof Error || !key.getPublicSSH().equals(context.key.data)) return false
    if (context.signature === undefined || context.blob === undefined) return true
    return key.verify(context.blob, context.signature, context.hashAlgo)
  })
}

/** Accepts or rejects a log-in. */
const handleLogin = (context: AuthContext, options: LoginOptions): void => {
  const methods = [...options.methods ?? ["password"]]
  const username = options.username ?? defaultUsername
  const password = Redacted.value(options.password)
  const decide = (right: boolean) => right && context.username === username ? context.accept() : context.reject(methods)
  if (!methods.some((method) => method === context.method)) return decide(false)
  switch (context.method) {
    case "password":
      return decide(context.password === password)
    case "keyboard-interactive":
      return context.prompt({ prompt: "Password: ", echo: false }, (answers) => decide(answers?.[0] === password))
    case "publickey":
      return decide(isAuthorized(context, options.authorizedKeys ?? []))
    default:
      return decide(false)
  }
}

export interface SshServerOptions extends LoginOptions {
  /** Existing home directory: working directory of commands and base of relative SFTP paths. */
  readonly home: string
  /** Directories to prepend to the PATH of commands. */
  readonly path?: ReadonlyArray<string>
  /** Further environment variables of commands. */
  readonly env?: { readonly [name: string]: string }
  /** Makes SFTP refuse paths outside the home, also through links. Commands are never confined. */
  readonly confined?: boolean
}

/** SSH server on a loopback port. */
export interface SshServer {
  readonly host: string
  readonly port: number
  readonly username: string
  readonly password: Redacted.Redacted
  /** Host key fingerprint in OpenSSH's format: `SHA256:…`. */
  readonly fingerprint: string
  /** Last thousand commands, oldest first. */
  readonly commands: Effect.Effect<ReadonlyArray<string>>
  /** Connections accepted since the start. */
  readonly connections: Effect.Effect<number>
  /** Destroys every connection without a disconnect message, like a pulled cable. */
  readonly cutConnections: Effect.Effect<void>
}

const maxConnections = 64
// OpenSSH's default of MaxSessions.
const maxSessions = 10
const maxRecordedCommands = 1000

const environmentOf = ({ env, home, path = [] }: SshServerOptions, username: string) => ({
  ...(process.platform === "win32" ? process.env : {}),
  PATH: [...path, process.env["PATH"] ?? ""].join(delimiter),
  HOME: home,
  USER: username,
  LOGNAME: username,
  SHELL: "/bin/sh",
  ...env
})

// Uses Node's generator: one in a hundred ed25519 keys of ssh2 is malformed.
const newHostKey = Effect.gen(function*() {
  const { privateKey } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    privateKeyEncoding: { format: "pem", type: "sec1" },
    publicKeyEncoding: { format: "pem", type: "spki" }
  })
  const key = ssh2.utils.parseKey(privateKey)
  if (key instanceof Error) {
    return yield* new SandboxFailed({ part: "SSH server", reason: `its host key is unusable: ${key.message}` })
  }
  const digest = createHash("sha256").update(key.getPublicSSH()).digest("base64")
  return { privateKey, fingerprint: `SHA256:${digest.replace(/(?<!=)=+$/, "")}` }
})

/**
 * Starts an SSH server with SFTP on a free loopback port. Runs commands with `sh -c` in `home` as the sandbox's own user:
 * the home is not a jail. Closing the scope ends the server, its connections and their commands.
 */
export const makeSshServer = (options: SshServerOptions): Effect.Effect<SshServer, SandboxFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const username = options.username ?? defaultUsername
    const environment = environmentOf(options, username)
    const commands = yield* Ref.make<ReadonlyArray<string>>([])
    const connections = yield* Ref.make(0)
    const run = yield* FiberSet.makeRuntime<never>()
    const { fingerprint, privateKey } = yield* newHostKey
    const sockets = new Set<Socket>()
    const cutConnections = Effect.sync(() => sockets.forEach((socket) => socket.destroy()))

    const serveSession = (session: Session, gone: Effect.Effect<void>) => {
      session.on("exec", (accept, _reject, { command }) => {
        const channel = accept()
        run(Effect.zipRight(
          Ref.update(commands, (all) => [...all, command].slice(-maxRecordedCommands)),
          serveCommand({ session, channel, gone, command, home: options.home, environment })
        ))
      })
      session.on("sftp", (accept) => {
        run(serveSftp({ sftp: accept(), gone, home: options.home, confined: options.confined ?? false }))
      })
    }

    const serveConnection = (connection: Connection) => {
      const sessions = new Set<() => void>()
      // Errors of one connection are followed by "close", which cleans up.
      connection.on("error", () => undefined)
      connection.on("close", () => sessions.forEach((end) => end()))
      connection.on("authentication", (context) => handleLogin(context, options))
      connection.on("session", (accept, reject) => {
        if (sessions.size >= maxSessions) return reject()
        const session = accept()
        const gone = Deferred.unsafeMake<void>(FiberId.none)
        const end = () => {
          sessions.delete(end)
          Deferred.unsafeDone(gone, Effect.void)
        }
        sessions.add(end)
        session.on("close", end)
        serveSession(session, Deferred.await(gone))
      })
    }

    const ssh = new ssh2.Server({ hostKeys: [privateKey], ident: "Berth_sandbox" }, serveConnection)
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.once("close", () => sockets.delete(socket))
      socket.setNoDelay(true)
      run(Ref.update(connections, (count) => count + 1))
      ssh.injectSocket(socket)
    })
    server.maxConnections = maxConnections
    const port = yield* listenOnLoopback("SSH server", server)
    yield* Effect.addFinalizer(() => cutConnections)

    return {
      host: loopback,
      port,
      username,
      password: options.password,
      fingerprint,
      commands: Ref.get(commands),
      connections: Ref.get(connections),
      cutConnections
    }
  }).pipe(
    // The sandbox is outside the program under test and ignores its test clock.
    Effect.withClock(Clock.make()),
    Effect.withSpan("makeSshServer")
  )
