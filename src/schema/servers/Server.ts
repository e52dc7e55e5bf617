import { type Redacted, Schema } from "effect"
import { field, flag, text } from "../words/describedFields.ts"
import { findNearest } from "../words/nearest.ts"
import { cut, quoteInput } from "../words/quoted.ts"
import { strictBody } from "../words/strict.ts"
import { jumpShape, normalizeJumpList, parseJumpHosts } from "./jumpHosts.ts"

/** A TCP port. */
export const Port = Schema.Number.pipe(Schema.int(), Schema.between(1, 65535)).annotations({
  message: () => ({ message: "must be a whole number from 1 to 65535", override: true })
})

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
  useSudo: flag("True when Docker and files need sudo there.")
}).annotations({ identifier: "Server" })
export interface Server extends Schema.Schema.Type<typeof Server> {}

const keptOrCleared = "Left out, what is stored stays; null clears it."

// Bounds the settings file, which is read again for each request.
const ShortText = Schema.String.pipe(
  Schema.maxLength(4_096, { message: () => "must not be longer than 4096 characters" })
)
const credential = (what: string) =>
  Schema.optional(Schema.NullOr(Schema.Redacted(ShortText))).annotations({ description: `${what}. ${keptOrCleared}` })

const oneLine = (text: string): string | true => {
  if (text.trim() === "") return "must not be empty"
  if (/[\0\r\n]/.test(text)) return "must be one line"
  return text.trimStart() === text || "must not start with a space"
}
/** Non-empty string of one line. */
export const OneLine = ShortText.pipe(Schema.filter(oneLine))

const longestHost = 253
const hostName = (text: string): string | true => {
  if (text.includes("://")) return "must be a host name or an IP address, without ://"
  if (text.includes("@")) return "must be a host name or an IP address: the user belongs in username"
  if (/^[^:]*:\d*$/.test(text)) return "must be a host name or an IP address: the port belongs in port"
  if (text.length > longestHost) return `must be a host name or an IP address, with at most ${longestHost} characters`
  return !/[\s/\\?#]/.test(text) || "must be a host name or an IP address"
}
const Host = OneLine.pipe(Schema.filter(hostName))

/** Jump hosts as in OpenSSH's `-J`; null for a blank string. */
export const JumpList = Schema.transform(
  ShortText.pipe(
    Schema.filter((text) => normalizeJumpList(text) === null || parseJumpHosts(text) !== undefined || jumpShape)
  ),
  Schema.NullOr(Schema.String),
  { strict: true, decode: normalizeJumpList, encode: (jump) => jump ?? "" }
)

// Refuses a key before other checks, because their messages could repeat parts of it.
const keyFile = (text: string): string | true =>
  text.includes("-----BEGIN") ? "is the path of a key file, not its content" : oneLine(text)
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

/** Credentials for a server. `privateKey` is an absolute local path. */
export interface Credentials {
  readonly password?: Redacted.Redacted
  readonly sudoPassword?: Redacted.Redacted
  readonly privateKey?: string
  readonly passphrase?: Redacted.Redacted
  readonly agent?: boolean
}

/** A stored server together with its resolved credentials. */
export interface ServerAccess extends Server {
  readonly credentials: Credentials
  /** Jump host of its connection, which may itself have a jump host. */
  readonly via?: ServerAccess
}

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
