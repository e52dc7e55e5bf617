import { Clock, Deferred, Effect, FiberId, FiberSet, type Redacted, Ref, type Scope } from "effect"
import { createHash, generateKeyPairSync } from "node:crypto"
import { createServer, type Socket } from "node:net"
import { delimiter } from "node:path"
import ssh2 from "ssh2"
import type { Connection, Session } from "ssh2"
import { listenOnLoopback, loopback } from "./ports/loopback.ts"
import { SandboxFailed } from "./ports/SandboxFailed.ts"
import { serveSftp } from "./ssh/sftpFiles.ts"
import { serveCommand } from "./ssh/sshCommand.ts"
import { defaultUsername, handleLogin, type LoginOptions } from "./ssh/sshLogin.ts"

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
