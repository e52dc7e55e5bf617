import { Config, Deferred, Effect, Either, Encoding, Option, Redacted, type Scope } from "effect"
import type { AnyAuthMethod, Client, IdentityCallback, ParsedKey, SignCallback, SigningRequestOptions } from "ssh2"
import {
  type AuthenticationFailed,
  ConnectionLost,
  type Credentials,
  type HostKeyChanged,
  type ServerAccess,
  type ServerUnreachable
} from "../../schema/ssh.ts"
import { cut, escapeText } from "../../schema/words.ts"
import { readErrorCode, readRegular } from "../local/LocalFiles.ts"

/**
 * A failure before the log-in, as reported by ssh2 or the socket. `dropped`: the server closed the connection before
 * its greeting.
 */
export interface ConnectFailure {
  readonly reason: string
  readonly dropped: boolean
  readonly turnedDown: boolean
}

const words: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "the host name could not be resolved for now",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "the network is unreachable",
  ETIMEDOUT: "no answer",
  ECONNRESET: "the server reset the connection",
  EPIPE: "the server closed the connection",
  EACCES: "this machine does not allow the connection"
}

/** The port is served by another protocol than SSH. */
export const makeProtocolFailure = (protocol: string): ConnectFailure => ({
  reason: `what answers there does not speak SSH but ${protocol}: check host and port`,
  dropped: false,
  turnedDown: false
})

const tooMany = /authentication failures/i

const levelOf = (error: Error): string => "level" in error && typeof error.level === "string" ? error.level : ""

/** True when only one authentication method failed: ssh2 continues with the next. */
export const isMethodFailure = (error: Error) =>
  levelOf(error) === "agent" ||
  (levelOf(error) === "client-authentication" && !error.message.startsWith("All configured"))

/** Describes an error of a socket. */
export const describeSocketError = (error: Error): string =>
  words[readErrorCode(error)] ?? (error.message || readErrorCode(error))

/**
 * Describes an error of ssh2 or of the socket.
 * @param greeted true once the server has sent its host key
 * @param reason description of an error of the handshake
 */
export const toConnectFailure = (
  error: Error,
  greeted: boolean,
  reason = describeSocketError(error)
): ConnectFailure => ({
  reason,
  dropped: !greeted && (readErrorCode(error) === "ECONNRESET" || error.message.includes("before handshake")),
  turnedDown: levelOf(error) === "client-authentication" || tooMany.test(error.message)
})

/** Algorithms of a handshake, by the end of the words in which ssh2 misses one: their option of sshd, and more to do. */
const algorithmKinds = [
  { words: "key exchange algorithm", option: "KexAlgorithms" },
  {
    words: "host key format",
    option: "HostKeyAlgorithms",
    more: ", with a key of its type (ssh-keygen -A makes them)"
  },
  { words: "cipher", option: "Ciphers" },
  { words: "MAC", option: "MACs" },
  { words: "compression", option: "Compression" }
]

const mostAlgorithms = 40

const listAlgorithms = (names: string): string => {
  // Marks of the protocol, which name no algorithm.
  const own = names.split(",").filter((name) => name !== "" && !/^(?:ext-info|kex-strict)-/.test(name))
  return own.slice(0, mostAlgorithms).map((name) => cut(escapeText(name))).join(", ") || "none"
}

/** Hears what ssh2 tells of a handshake, and describes one that fails because both sides share no algorithm of a kind. */
export const watchHandshake = () => {
  const lists = { local: "", remote: "" }
  return {
    hear: (line: string): void => {
      const [, side, names = ""] = /^Handshake: \((local|remote)\) [^:]*: (.*)$/s.exec(line) ?? []
      if (side === "local" || side === "remote") lists[side] = names
    },
    /** Undefined for other failures. */
    describe: ({ message }: Error): string | undefined => {
      const missing = /^Handshake failed: no matching (.*)$/.exec(message)?.[1]
      const kind = algorithmKinds.find(({ words }) => missing?.endsWith(words) === true)
      return kind === undefined
        ? undefined
        : `it shares no ${kind.words.replace("format", "algorithm")} with Berth: it has ${
          listAlgorithms(lists.remote)
        }, and Berth has ` +
          `${listAlgorithms(lists.local)}. Add one of the latter to ${kind.option} in the server's sshd_config` +
          (kind.more ?? "")
    }
  }
}

/** The server has been silent for too long. */
export const fellSilent: ConnectFailure = { reason: "it stopped answering", dropped: false, turnedDown: false }

/** The server ended the connection without a reason. */
export const hungUp: ConnectFailure = { reason: "the server closed the connection", dropped: false, turnedDown: false }

/** A live connection, logged in. */
export interface SshConnection {
  readonly client: Client
  /** Fails with the reason when the connection breaks. */
  readonly lost: Deferred.Deferred<never, string>
  /**
   * Registers a callback for the loss of the connection, called at once if it is already lost. Returns a function that
   * removes the callback.
   */
  readonly onLost: (tell: () => void) => () => void
  /** Completes when a channel did not close: later callers need another connection. */
  readonly spent: Deferred.Deferred<void>
  readonly slots: Effect.Semaphore
  readonly scope: Scope.Scope
}

export type ConnectError = AuthenticationFailed | HostKeyChanged | ServerUnreachable

/** Fields that identify a server in every error. */
export const pickServerFields = ({ host, name, port }: Pick<ServerAccess, "host" | "name" | "port">) => ({
  server: name,
  host,
  port
})

/** True if a connection no longer accepts work. */
export const isOver = ({ lost, spent }: SshConnection): Effect.Effect<boolean> =>
  Effect.zipWith(Deferred.isDone(lost), Deferred.isDone(spent), (lost, spent) => lost || spent)

/** Fails when the connection breaks. */
const failWhenLost = (
  server: ServerAccess,
  { lost }: Pick<SshConnection, "lost">
): Effect.Effect<never, ConnectionLost> =>
  Effect.mapError(Deferred.await(lost), (reason) => new ConnectionLost({ ...pickServerFields(server), reason }))

/** Fails if the connection is broken. */
export const requireConnected = (
  server: ServerAccess,
  connection: SshConnection
): Effect.Effect<void, ConnectionLost> =>
  Effect.flatMap(Deferred.isDone(connection.lost), (lost) => lost ? failWhenLost(server, connection) : Effect.void)

/** Loads the SSH library on first use, so that a start without connections does not wait for it. */
export const loadSsh2 = Effect.map(Effect.promise(() => import("ssh2")), ({ default: ssh2 }) => ssh2)

/** An authentication method: its display name and its credentials. */
interface Way {
  readonly name: string
  readonly method: AnyAuthMethod
}

/** Methods that the stored credentials offer, and the reasons why others cannot be used. */
export interface LoginMethods {
  readonly ways: ReadonlyArray<Way>
  readonly unused: ReadonlyArray<string>
}

/** Reveals a secret in order to send or compare it. */
export const reveal = (secret: Redacted.Redacted | undefined): string | undefined =>
  secret === undefined ? undefined : Redacted.value(secret)

/** Sends the password to the first prompt with hidden input, and nothing to any other prompt. */
const answering = (password: string): Extract<AnyAuthMethod, { readonly type: "keyboard-interactive" }>["prompt"] => {
  let answered = false
  return (_name, _instructions, _language, prompts, finish) =>
    finish(prompts.map((prompt) => {
      if (answered || prompt.echo === true) return ""
      answered = true
      return password
    }))
}

const withPassword = (username: string, password: string | undefined): ReadonlyArray<Way> =>
  password === undefined ? [] : [
    { name: "password", method: { type: "password", username, password } },
    {
      name: "keyboard-interactive",
      method: { type: "keyboard-interactive", username, prompt: answering(password) }
    }
  ]

const longestKey = 1024 * 1024

const parseKey = (text: string, passphrase: string | undefined) =>
  Effect.gen(function*() {
    const { utils } = yield* loadSsh2
    const key = utils.parseKey(text, passphrase)
    if (key instanceof Error) return yield* Effect.fail(key)
    return Array.isArray(key) ? key[0] : key
  })

const parsePrivateKey = (text: string, passphrase: string | undefined) =>
  Effect.filterOrFail(
    parseKey(text, passphrase),
    (key) => key.isPrivateKey(),
    () => new Error("it holds no private key")
  )

/** Text of a key as a file has it: variables of CI systems hold it in base64, or with `\n` for its line breaks. */
const unpackKeyText = (text: string): string => {
  const own = text.trim()
  const unpacked = own.includes("-----BEGIN")
    ? own
    : Either.getOrElse(Encoding.decodeBase64String(own.replaceAll(/\s/g, "")), () => own)
  const key = unpacked.includes("-----BEGIN") ? unpacked.trim() : own
  return `${key.includes("\n") ? key : key.replaceAll("\\n", "\n")}\n`
}

const withKeyText = (username: string, text: string, passphrase: string | undefined) =>
  parsePrivateKey(unpackKeyText(text), passphrase).pipe(
    Effect.mapBoth({
      onFailure: ({ message }) =>
        `the private key in the settings cannot be used: ${message.replace(/^(?=is )/, "it ")}`,
      onSuccess: (key): Way => ({
        name: "the private key in the settings",
        method: { type: "publickey", username, key }
      })
    })
  )

const agentSocket = Config.option(Config.nonEmptyString("SSH_AUTH_SOCK")).pipe(
  Effect.orElseSucceed(() => Option.none<string>()),
  Effect.map(
    Option.orElse(() => process.platform === "win32" ? Option.some("\\\\.\\pipe\\openssh-ssh-agent") : Option.none())
  )
)

const noAgent = "the agent cannot be used: SSH_AUTH_SOCK is not set where Berth runs"

/** The key of a public key file, as the agent has its private half: it offers no other one, which would count as a try. */
const withAgentKey = (username: string, file: string, blob: Buffer): Effect.Effect<Way, string> =>
  Effect.gen(function*() {
    const socket = yield* Effect.flatten(agentSocket).pipe(
      Effect.mapError(() => `${file} is a public key, whose private half the agent may have: ${noAgent}`)
    )
    const { BaseAgent, OpenSSHAgent } = yield* loadSsh2
    const whole = new OpenSSHAgent(socket)
    class OneKey extends BaseAgent<ParsedKey> {
      getIdentities(done: IdentityCallback<ParsedKey>) {
        whole.getIdentities((error, keys = []) => {
          const own = keys.filter((key) => "getPublicSSH" in key && key.getPublicSSH().equals(blob))
          const missing = new Error(`the agent at ${socket} does not have it`)
          done(error ?? (own.length === 0 ? missing : undefined), own)
        })
      }
      sign(key: ParsedKey, data: Buffer, options?: SigningRequestOptions | SignCallback, done?: SignCallback) {
        if (typeof options === "function") whole.sign(key, data, options)
        else whole.sign(key, data, options, done)
      }
    }
    return { name: `the key of ${file}`, method: { type: "agent", username, agent: new OneKey() } }
  })

/** Reads a private key, or a public one whose private half the agent has, as OpenSSH takes both for an `IdentityFile`. */
const withKey = (username: string, file: string, passphrase: string | undefined): Effect.Effect<Way, string> =>
  Effect.gen(function*() {
    const text = new TextDecoder().decode(yield* readRegular(file, longestKey))
    const key = yield* parseKey(text, passphrase)
    if (!key.isPrivateKey()) return yield* Effect.either(withAgentKey(username, file, key.getPublicSSH()))
    return Either.right({ name: `the private key ${file}`, method: { type: "publickey", username, key } } satisfies Way)
  }).pipe(
    Effect.mapError((cause) =>
      "code" in cause && cause.code === "ENOENT"
        ? `the key file ${file} does not exist`
        : "code" in cause && cause.code === "EACCES"
        ? `the key file ${file} cannot be read: permission denied`
        : `the private key ${file} cannot be used: ${cause.message.replace(/^(?=is )/, "it ")}`
    ),
    Effect.flatten
  )

const withAgent = (username: string) =>
  Effect.flatMap(
    agentSocket,
    Option.match({
      onNone: () => Effect.fail(noAgent),
      onSome: (agent): Effect.Effect<Way> =>
        Effect.succeed({ name: `the keys of the agent at ${agent}`, method: { type: "agent", username, agent } })
    })
  )

/**
 * Collects the authentication methods; those that reveal nothing to the server come first. Reads the private key file.
 */
export const collectLoginMethods = ({ credentials, username }: Pick<ServerAccess, "credentials" | "username">) =>
  Effect.gen(function*() {
    const { agent, keyText, passphrase, password, privateKey }: Credentials = credentials
    const [unused, ways] = yield* Effect.partition(
      [
        ...privateKey === undefined ? [] : [withKey(username, privateKey, reveal(passphrase))],
        ...keyText === undefined ? [] : [withKeyText(username, Redacted.value(keyText), reveal(passphrase))],
        ...agent === true ? [withAgent(username)] : []
      ],
      (way): Effect.Effect<Way, string> => way
    )
    return { ways: [...ways, ...withPassword(username, reveal(password))], unused } satisfies LoginMethods
  })

/**
 * Offers each method once, and only if the server accepts it. Keyboard-interactive is used only if the server does not
 * accept passwords, since it would retry the same one. `tried` collects the names of the offered methods.
 */
export const makeAuthSequence = ({ unused, ways }: LoginMethods, username: string) => {
  const left = [...ways]
  const tried: Array<string> = []
  const noted: Array<string> = []
  let started = false
  let accepted: ReadonlyArray<string> = []
  const next = (methods: ReadonlyArray<string> | null): AnyAuthMethod | false => {
    if (!started) {
      started = true
      return { type: "none", username }
    }
    accepted = methods ?? []
    const takes = (way: Way) => {
      const name = way.method.type === "agent" ? "publickey" : way.method.type
      return accepted.includes(name) &&
        !(name === "keyboard-interactive" && (tried.includes("password") || accepted.includes("password")))
    }
    const index = left.findIndex(takes)
    const [way] = index < 0 ? [] : left.splice(index, 1)
    if (way === undefined) return false
    tried.push(way.name)
    return way.method
  }
  /** @param reason of the refusal in the server's words */
  const outcome = (reason = "") => ({
    tried: [...tried],
    unused: [
      ...unused,
      ...noted,
      ...tooMany.test(reason)
        ? [
          "it ends a log-in after as many keys as its MaxAuthTries says, 6 unless changed, and each key of an agent counts: " +
          "name the one that it knows, by its file or its .pub"
        ]
        : [],
      ...tried.length === 0 && ways.length > 0 && accepted.length > 0
        ? [`the server takes only ${accepted.join(", ")}, for which no usable credential is stored`]
        : []
    ]
  })
  /** Notes why the current method could not be offered to the server; ssh2 continues with the next. */
  const note = (reason: string): void => {
    noted.push(`${tried.pop() ?? "a way to log in"} cannot be used: ${reason}`)
  }
  return { next, note, outcome }
}
