import { Clock, Deferred, Effect, FiberId, FiberSet, Ref } from "effect"
import type { Redacted, Scope } from "effect"
import { createHash, generateKeyPairSync } from "node:crypto"
import { createServer } from "node:net"
import type { Socket } from "node:net"
import { delimiter } from "node:path"
import ssh2 from "ssh2"
import type { Connection, Session } from "ssh2"
import { listenOnLoopback, loopback } from "./loopback.ts"
import { SandboxFailed } from "./SandboxFailed.ts"
import { serveSftp } from "./ssh/sftpFiles.ts"
import { serveCommand } from "./ssh/sshCommand.ts"
import { defaultUsername, logIn } from "./ssh/sshLogin.ts"
import type { LoginOptions } from "./ssh/sshLogin.ts"

export interface SshServerOptions extends LoginOptions {
  /** An existing directory: the user's home, where commands run and relative SFTP paths start. */
  readonly home: string
  /** Directories that come first on the PATH of commands. */
  readonly path?: ReadonlyArray<string>
  /** Further environment variables of commands. */
  readonly env?: { readonly [name: string]: string }
  /** Whether SFTP refuses what lies outside the home, links out of it too. Commands are never confined. */
  readonly confined?: boolean
}

/** An SSH server that is listening on a loopback port. */
export interface SshServer {
  readonly host: string
  readonly port: number
  readonly username: string
  readonly password: Redacted.Redacted
  /** The host key's fingerprint as OpenSSH shows it: `SHA256:…`. */
  readonly fingerprint: string
  /** The commands it was asked to run, oldest first, the last thousand. */
  readonly commands: Effect.Effect<ReadonlyArray<string>>
  /** How many connections were made since it started. */
  readonly connections: Effect.Effect<number>
  /** Cuts every connection without a word, as a pulled cable does. */
  readonly cutConnections: Effect.Effect<void>
}

const maxConnections = 64
// What OpenSSH allows by default (MaxSessions).
const maxSessions = 10
const remembered = 1000

const environmentOf = ({ env, home, path = [] }: SshServerOptions, username: string) => ({
  ...(process.platform === "win32" ? process.env : {}),
  PATH: [...path, process.env["PATH"] ?? ""].join(delimiter),
  HOME: home,
  USER: username,
  LOGNAME: username,
  SHELL: "/bin/sh",
  ...env
})

// Node's own generator: one in a hundred ed25519 keys that ssh2 makes is malformed.
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
 * Starts an SSH server with SFTP on a free loopback port. Its one user runs commands with `sh -c` in `home`, as the
 * user that runs the sandbox: the home is not a jail. The server, its connections and their commands end with the scope.
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
          Ref.update(commands, (all) => [...all, command].slice(-remembered)),
          serveCommand({ session, channel, gone, command, home: options.home, environment })
        ))
      })
      session.on("sftp", (accept) => {
        run(serveSftp({ sftp: accept(), gone, home: options.home, confined: options.confined ?? false }))
      })
    }

    const serveConnection = (connection: Connection) => {
      const sessions = new Set<() => void>()
      // A client that breaks off concerns nobody but itself; "close" follows.
      connection.on("error", () => undefined)
      connection.on("close", () => sessions.forEach((end) => end()))
      connection.on("authentication", (context) => logIn(context, options))
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
    // The sandbox is outside the program under test: its time is the machine's, whatever clock the program has.
    Effect.withClock(Clock.make()),
    Effect.withSpan("makeSshServer")
  )
