import { Either, Schema } from "effect"
import { describedPath, field, flag, ShortText, strictBody, text, textOrNull } from "./validation.ts"
import { cut, findNearest, quoteInput } from "./words.ts"

/** Jump host, as in OpenSSH's `-J`. */
export interface JumpHost {
  /** A host name, an IP address or an alias of `~/.ssh/config`. */
  readonly host: string
  readonly port?: number
  readonly username?: string
}

/** Maximum number of jump hosts of a connection. */
export const mostJumps = 8

const hop = /^(?:([^@\s,/:]+)@)?(?:\[([0-9A-Fa-f:.%]+)\]|([A-Za-z0-9_][A-Za-z0-9_.-]{0,252}))(?::(\d{1,5}))?$/

/**
 * Parses jump hosts, nearest first: `[user@]host[:port]`, separated by commas. Undefined if one is invalid or there are
 * too many.
 */
export const parseJumpHosts = (text: string): ReadonlyArray<JumpHost> | undefined => {
  const hops = text.split(",").map((part): JumpHost | undefined => {
    const [, username, address, name, written] = hop.exec(part.trim()) ?? []
    const host = address ?? name
    const port = written === undefined ? undefined : Number(written)
    if (host === undefined || (port !== undefined && (port < 1 || port > 65_535))) return undefined
    return { host, ...(port === undefined ? {} : { port }), ...(username === undefined ? {} : { username }) }
  })
  const known = hops.filter((each) => each !== undefined)
  return known.length === hops.length && hops.length <= mostJumps ? known : undefined
}

/** Trims a list of jump hosts; null for a blank string. */
export const normalizeJumpList = (text: string): string | null => text.trim() || null

/** Error message for invalid jump hosts. */
export const jumpShape =
  `must be [user@]host[:port], or up to ${mostJumps} of these separated by commas; a ProxyCommand cannot be used`

/** Jump hosts as in OpenSSH's `-J`; null for a blank string. */
export const JumpList = Schema.transform(
  ShortText.pipe(
    Schema.filter((text) => normalizeJumpList(text) === null || parseJumpHosts(text) !== undefined || jumpShape)
  ),
  Schema.NullOr(Schema.String),
  { strict: true, decode: normalizeJumpList, encode: (jump) => jump ?? "" }
)

/** A TCP port. */
export const Port = Schema.Number.pipe(Schema.int(), Schema.between(1, 65535)).annotations({
  message: () => ({ message: "must be a whole number from 1 to 65535", override: true })
})

/** The fingerprint of a host key. */
export const Fingerprint = Schema.String.pipe(
  Schema.pattern(/^SHA256:[A-Za-z0-9+/]{43}$/, {
    message: () => "must be a fingerprint as ssh-keygen -l prints it: SHA256: and 43 letters, digits, + and /"
  })
)

/** Deployment server as returned to callers, without credentials. */
export const Server = Schema.Struct({
  id: text("Identifier in requests.", "1"),
  name: text("Display name.", "Main"),
  host: text("Its host name or IP address.", "203.0.113.5"),
  port: Port.annotations({ description: "Its SSH port.", examples: [22] }),
  username: text("The user to log in as.", "deploy"),
  jump: Schema.optional(Schema.String).annotations({
    description: "The jump hosts that its connection goes through, the nearest first; absent without any.",
    examples: ["deploy@bastion.example.com"]
  }),
  hostKey: Schema.optional(Schema.String).annotations({
    description: "The fingerprint that the settings require of its host key; absent without one."
  }),
  useSudo: flag("True when Docker and files need sudo there.")
}).annotations({ identifier: "Server" })
export interface Server extends Schema.Schema.Type<typeof Server> {}

const keptOrCleared = "Left out, what is stored stays; null clears it."
const credential = (what: string) =>
  Schema.optional(Schema.NullOr(Schema.Redacted(ShortText))).annotations({ description: `${what}. ${keptOrCleared}` })

const oneLine = (text: string): string | true => {
  if (text.trim() === "") return "must not be empty"
  if (/[\0\r\n]/.test(text)) return "must be one line"
  return text.trimStart() === text || "must not start with a space"
}
/** Non-empty string of one line. */
const OneLine = ShortText.pipe(Schema.filter(oneLine))

const longestHost = 253
const hostName = (text: string): string | true => {
  if (text.includes("://")) return "must be a host name or an IP address, without ://"
  if (text.includes("@")) return "must be a host name or an IP address: the user belongs in username"
  if (/^[^:]*:\d*$/.test(text)) return "must be a host name or an IP address: the port belongs in port"
  if (text.length > longestHost) return `must be a host name or an IP address, with at most ${longestHost} characters`
  return !/[\s/\\?#]/.test(text) || "must be a host name or an IP address"
}
const Host = OneLine.pipe(Schema.filter(hostName))

const longestSegment = 255

/**
 * Detects the text of a private key where a path is expected: PEM, OpenSSH and PuTTY, also in base64 or on one line, as
 * CI systems hold them. No path has such a line or such a long name.
 */
export const isKeyText = (text: string): boolean =>
  // The last three are base64: of `-----BEGIN`, and what is between such lines.
  /-----BEGIN|^PuTTY-User-Key-File-|\S[\r\n]+\S|^(?:LS0tLS1CRUdJ|b3BlbnNzaC1rZXkt|MII[\w+/]{60})/.test(text.trim()) ||
  text.split(/[/\\]/).some((segment) => segment.length > longestSegment)

// Refuses a key before other checks, because their messages could repeat parts of it.
const keyFile = (text: string): string | true =>
  isKeyText(text) ? "is the path of a key file, not its content" : oneLine(text)
const KeyFile = ShortText.pipe(Schema.filter(keyFile))

/** Default SSH port of a server. */
export const usualSshPort = 22

/**
 * Server as sent by a caller. Credentials are stored and never returned: an omitted one keeps its stored value, `null`
 * clears it.
 */
export const ServerInput = Schema.Struct({
  id: Schema.optional(Schema.NullOr(Schema.String)).annotations({
    description: "The id of the stored server to replace; left out, this one is added under a new id."
  }),
  name: field(OneLine, "Display name."),
  host: field(Host, "Its host name or IP address."),
  port: Schema.optional(Port).annotations({ description: "Its SSH port.", default: usualSshPort }),
  username: field(OneLine, "The user to log in as."),
  jump: Schema.optional(Schema.NullOr(JumpList)).annotations({
    description: "The jump hosts to connect through, as ssh -J takes them: [user@]host[:port], separated by commas. " +
      keptOrCleared,
    examples: ["deploy@bastion.example.com"]
  }),
  useSudo: Schema.optional(Schema.Boolean).annotations({
    description: "True when Docker and files need sudo there."
  }),
  password: credential("The user's password"),
  sudoPassword: credential("The password for sudo, where it differs"),
  privateKey: Schema.optional(Schema.NullOr(KeyFile)).annotations({
    description: `The absolute path of a private key file on this machine. ${keptOrCleared}`
  }),
  passphrase: credential("The passphrase of the private key"),
  agent: Schema.optional(Schema.NullOr(Schema.Boolean)).annotations({
    description: `True to log in with the keys of this machine's SSH agent. ${keptOrCleared}`
  })
}).annotations({ identifier: "ServerInput", ...strictBody })
export interface ServerInput extends Schema.Schema.Type<typeof ServerInput> {}

const mostNamed = 20

/** No stored server has this id or name. `stored` lists the existing ones. */
export class ServerNotFound extends Schema.TaggedError<ServerNotFound>()("ServerNotFound", {
  id: Schema.String,
  stored: Schema.optional(Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String })))
}) {
  readonly status = 404
  override get message() {
    const missing = `Server not found: no stored server has the id or the name ${quoteInput(this.id)}`
    const { stored } = this
    if (stored === undefined) return missing
    if (stored.length === 0) return `${missing}: none is stored`
    const meant = findNearest(this.id, stored.flatMap(({ id, name }) => [id, name]))
    const isMeant = ({ id, name }: { readonly id: string; readonly name: string }) => id === meant || name === meant
    const nearestFirst = [...stored.filter(isMeant), ...stored.filter((server) => !isMeant(server))]
    const named = nearestFirst.slice(0, mostNamed).map(({ id, name }) => `${quoteInput(id)} (${cut(name)})`)
    const more = stored.length > mostNamed ? ` and ${stored.length - mostNamed} more` : ""
    return `${missing}. Ids (and names) of the stored servers: ${named.join(", ")}${more}`
  }
}

/** Several stored servers have this name, and none has it as id. */
export class ServerAmbiguous extends Schema.TaggedError<ServerAmbiguous>()("ServerAmbiguous", {
  name: Schema.String,
  ids: Schema.Array(Schema.String)
}) {
  readonly status = 409
  override get message() {
    const ids = this.ids.slice(0, mostNamed).map((id) => cut(id)).join(", ")
    const more = this.ids.length > mostNamed ? ` and ${this.ids.length - mostNamed} more` : ""
    return `${this.ids.length} stored servers are named ${quoteInput(this.name)}: name one by its id: ${ids}${more}`
  }
}

/** Reason why a text does not name exactly one stored server. */
export type ServerUnresolved = ServerNotFound | ServerAmbiguous

/** Server to store, and the host key that the user confirmed. */
export const ServerToStore = Schema.Struct({
  ...ServerInput.fields,
  newId: Schema.optional(Schema.NullOr(OneLine)).annotations({
    description: "The id of a server that is added; 409 where another one has it. Left out, it gets a number."
  }),
  uniqueName: Schema.optional(Schema.Boolean).annotations({
    description: "True to refuse with 409 a name that another stored server has.",
    default: false
  }),
  hostKey: Schema.optional(Schema.NullOr(Fingerprint)).annotations({
    description:
      "The fingerprint of its host key, once somebody has compared it: it is stored, and any other key is refused before " +
      "a credential is sent. Left out, a stored one stays, else what the server shows first is remembered as right; null " +
      "clears it. 409 where another key is stored or remembered."
  }),
  replacesHostKey: Schema.optional(Schema.NullOr(Fingerprint)).annotations({
    description: "The remembered fingerprint that hostKey takes the place of."
  })
}).annotations({ identifier: "ServerToStore", ...strictBody })
export interface ServerToStore extends Schema.Schema.Type<typeof ServerToStore> {}

/** Fields of a server to store. */
export type ServerFields = Omit<ServerToStore, "newId" | "replacesHostKey" | "uniqueName">

/** A stored server's new fields; its id is in the path. */
export const ServerReplacement = ServerToStore.omit("id", "newId").annotations({
  identifier: "ServerReplacement",
  ...strictBody
})

/** Another stored server has the name or the id already. */
export class ServerTaken extends Schema.TaggedError<ServerTaken>()("ServerTaken", {
  what: Schema.Literal("name", "id"),
  wanted: Schema.String,
  by: Schema.Struct({ id: Schema.String, name: Schema.String })
}) {
  readonly status = 409
  override get message() {
    const { id, name } = this.by
    return `The ${this.what} ${quoteInput(this.wanted)} would be mistaken for the stored server ${
      cut(name)
    } with the id ` +
      `${cut(id)}: nothing was stored. Choose another ${this.what}, or replace that server by its id`
  }
}

/** A caller with a token may not store, remove or test a server like this. */
export class ServerForbidden extends Schema.TaggedError<ServerForbidden>()("ServerForbidden", {
  reason: Schema.String
}) {
  readonly status = 403
  override get message() {
    return `${this.reason}. So only the user of the service's machine may do that: nothing was changed or sent. Run berth ` +
      "server there, or edit the settings file"
  }
}

/** The remembered host key of a server differs from the confirmed one. */
export class HostKeyTaken extends Schema.TaggedError<HostKeyTaken>()("HostKeyTaken", {
  host: Schema.String,
  port: Schema.Number,
  remembered: Schema.String,
  confirmed: Schema.String
}) {
  readonly status = 409
  override get message() {
    return `${cut(this.host)}:${this.port} is remembered with the host key ${this.remembered}, and hostKey is ` +
      `${this.confirmed}: nothing was stored. Compare hostKey with what ssh-keygen -lf prints on the server; if its key ` +
      `was really changed, confirm that with replacesHostKey ${this.remembered.split(" ")[0] ?? ""}`
  }
}

/** Server to test, stored or not. */
export const ServerTestRequest = Schema.Struct({
  ...ServerInput.fields,
  hostKey: Schema.optional(Schema.NullOr(Fingerprint)).annotations({
    description:
      "The fingerprint of its host key, once somebody has compared it: a server whose key is new gets no credential " +
      "without it."
  })
}).annotations({ identifier: "ServerTestRequest", ...strictBody })
export interface ServerTestRequest extends Schema.Schema.Type<typeof ServerTestRequest> {}

/** Part of a connection test. */
export const ServerCheck = Schema.Struct({
  ok: Schema.NullOr(Schema.Boolean).annotations({
    description: "True when it works; null where it was not tried."
  }),
  detail: text("Finding, or why it was not tried."),
  fix: Schema.optional(Schema.String).annotations({ description: "Remedy where it does not work." })
}).annotations({ identifier: "ServerCheck" })
export interface ServerCheck extends Schema.Schema.Type<typeof ServerCheck> {}

/** Host key that a server presented. */
export const ShownHostKey = Schema.Struct({
  type: text("Its type.", "ssh-ed25519"),
  fingerprint: text(
    "Its fingerprint, to compare with what ssh-keygen -lf prints on the server.",
    "SHA256:9yDLvJ0Xb8j0m2qQz1gk0x9K1v3uJm0o1b8yQ2nXW4s"
  ),
  standing: Schema.Literal("known", "new", "changed").annotations({
    description:
      "known: it is the one that is remembered, or was confirmed; new: neither is so for this host and port; changed: " +
      "another one is, or it is for another route, and no credential was sent."
  }),
  remembered: textOrNull(
    "The remembered fingerprint if the server shows another one, or is reached on another route; else null."
  ),
  route: Schema.optionalWith(
    Schema.Struct({
      remembered: text("The remembered route.", "directly"),
      now: text("The route of this test.", "through deploy@bastion.example.com")
    }),
    { exact: true }
  ).annotations({
    description: "The change of its route; only where the server is remembered on other routes than this one."
  }),
  rememberedIn: Schema.NullOr(Schema.Literal("berth", "known_hosts")).annotations({
    description:
      "berth: replacesHostKey can replace the remembered key; known_hosts: only ssh-keygen -R removes it; null " +
      "without a remembered key."
  })
}).annotations({ identifier: "ShownHostKey" })

/** Result of a connection test, which changes nothing and stores no host key. */
export const ServerTest = Schema.Struct({
  ready: flag("True when Berth can deploy there: everything that was tried works, and nothing had to be left out."),
  hostKey: field(Schema.NullOr(ShownHostKey), "Its host key; null where no SSH server was reached."),
  logIn: field(ServerCheck, "The log-in over SSH with the credentials."),
  sudo: field(ServerCheck, "The use of sudo; not tried where the server is used without it."),
  docker: field(ServerCheck, "The use of Docker and compose."),
  files: field(
    ServerCheck,
    "Writing and locking of files, programs that deploys use, and file transfer over SFTP. A file is written and removed."
  ),
  observedAt: text("When the test began, in UTC.", "2026-01-02T03:04:05.678Z")
}).annotations({ identifier: "ServerTest" })
export interface ServerTest extends Schema.Schema.Type<typeof ServerTest> {}

interface Named {
  readonly id: string
  readonly name: string
}

/** Compares names regardless of case. */
export const isSameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

/** Finds the stored server with this id, or else the only one with this name. */
export const findServer = <A extends Named>(
  stored: ReadonlyArray<A>,
  idOrName: string
): Either.Either<A, ServerNotFound | ServerAmbiguous> => {
  const named = stored.filter(({ name }) => isSameName(name, idOrName))
  const found = stored.find(({ id }) => id === idOrName) ?? (named.length === 1 ? named[0] : undefined)
  if (found !== undefined) return Either.right(found)
  return Either.left(
    named.length > 1
      ? new ServerAmbiguous({ name: idOrName, ids: named.map(({ id }) => id) })
      : new ServerNotFound({ id: idOrName, stored })
  )
}

/** Shortest unambiguous reference to a stored server: its name, or its id when the name is not unique. */
export const formatServerReference = (stored: ReadonlyArray<Named>, { id, name }: Named): string =>
  Either.match(findServer(stored, name), {
    onLeft: () => id,
    onRight: (found) => found.id === id ? name : id
  })

/** Host, port and jump hosts of a server: an address behind another jump host may be another machine. */
export interface MachineAddress {
  readonly host: string
  readonly port: number
  /** User of the log-in, which belongs to the route but not to the machine. */
  readonly username?: string
  /** Fingerprint that the settings require of its host key. */
  readonly hostKey?: string | undefined
  readonly via?: MachineAddress
}

/** Identifies a machine by its address, and by its jump hosts if any. */
export const formatMachineAddress = ({ host, port, via }: MachineAddress): string =>
  `${host.toLowerCase()}:${port}${via === undefined ? "" : ` through ${formatMachineAddress(via)}`}`

/** Normalizes a path: no doubled, dotted or trailing slashes. */
export const normalizeRemotePath = (path: string): string =>
  path.split("/").filter((segment, index) => index === 0 || (segment !== "" && segment !== ".")).join("/")

const longestPath = 4096
const loneSurrogate = /\p{Surrogate}/u

// Checks the normalized path, because the home and the root have many spellings (`~/.`, `//`).
const problem = (path: string): string | undefined => {
  if (/[\0\r\n]/.test(path)) return "must not contain a line break or NUL"
  // UTF-8 cannot encode it, so the server would receive another name.
  if (loneSurrogate.test(path)) return "must not contain half a surrogate pair"
  if (new TextEncoder().encode(path).length > longestPath) return "must not be longer than 4 KiB"
  if (!path.startsWith("/") && !path.startsWith("~/")) return "must be absolute on the server, or start with ~/"
  if (path.split("/").includes("..")) return "must not contain \"..\""
  const normal = normalizeRemotePath(path)
  return normal === "" || normal === "~" ? "must name a directory below / or ~" : undefined
}

/** A directory or file on a server: absolute, or below the home of the server's user as `~/…`. */
export const RemotePath = Schema.String.pipe(Schema.filter((path) => problem(path) ?? true)).annotations(describedPath)

/** A field of a request is not a valid remote path. */
export class RemotePathInvalid extends Schema.TaggedError<RemotePathInvalid>()("RemotePathInvalid", {
  field: Schema.String,
  reason: Schema.String
}) {
  readonly status = 400
  override get message() {
    return `${this.field} ${this.reason}`
  }
}

const accepted = (
  field: string,
  path: string,
  reason: string | undefined
): Either.Either<string, RemotePathInvalid> =>
  reason === undefined
    ? Either.right(normalizeRemotePath(path))
    : Either.left(new RemotePathInvalid({ field, reason }))

/** Validates and normalizes the remote path in a field of a request. */
export const parseRemotePath = (field: string, path: string) => accepted(field, path, problem(path))

/**
 * Validates and normalizes the directory of a stack that is written to; `.berth`, the directory of a stack's releases,
 * is refused.
 */
export const parseStackPath = (field: string, path: string) =>
  accepted(
    field,
    path,
    problem(path) ??
      (path.split("/").includes(".berth")
        ? "must not lead into \".berth\", where Berth keeps the releases of a stack"
        : undefined)
  )
