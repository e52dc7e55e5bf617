import { Schema } from "effect"
import type { Redacted } from "effect"

/** A TCP port. */
export const Port = Schema.Int.pipe(Schema.between(1, 65535)).annotations({
  message: () => ({ message: "must be a whole number from 1 to 65535", override: true })
})

/** A deployment server as every reply shows it: no credential is part of it. */
export const Server = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  host: Schema.String,
  port: Port,
  username: Schema.String,
  useSudo: Schema.Boolean
}).annotations({ identifier: "Server" })
export interface Server extends Schema.Schema.Type<typeof Server> {}

// The settings file is read anew for each request: it must not grow without bounds.
const ShortText = Schema.String.pipe(
  Schema.maxLength(4_096, { message: () => "must not be longer than 4096 characters" })
)
const credential = Schema.optional(Schema.NullOr(Schema.Redacted(ShortText)))
const filled = ShortText.pipe(Schema.pattern(/^[^\s\0][^\0\r\n]*$/, { message: () => "must not be empty" }))

/**
 * A server as a caller sends it. Credentials are stored and never returned: one that is left out keeps its stored
 * value, `null` clears it.
 */
export const ServerInput = Schema.Struct({
  id: Schema.optional(Schema.NullOr(Schema.String)),
  name: filled,
  host: filled,
  port: Schema.optional(Port),
  username: filled,
  useSudo: Schema.optional(Schema.Boolean),
  password: credential,
  sudoPassword: credential,
  privateKey: Schema.optional(Schema.NullOr(filled)),
  passphrase: credential,
  agent: Schema.optional(Schema.NullOr(Schema.Boolean))
}).annotations({ identifier: "ServerInput" })
export interface ServerInput extends Schema.Schema.Type<typeof ServerInput> {}

/** What it takes to log in to a server. `privateKey` is an absolute local path. */
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
}

/** No stored server has this id. */
export class ServerNotFound extends Schema.TaggedError<ServerNotFound>()("ServerNotFound", { id: Schema.String }) {
  readonly status = 404
  override get message() {
    return `Server not found: no server with id "${this.id}" is stored`
  }
}
