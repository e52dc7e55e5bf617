import { Schema } from "effect"
import { JumpList, Port } from "../../../schema/servers/Server.ts"
import type { LocatedValue } from "./settingValue.ts"

const field = <A, I>(schema: Schema.Schema<A, I>) => ({ decode: Schema.decodeUnknownEither(schema) })
const text = field(Schema.NonEmptyString)
const secret = field(Schema.Redacted(Schema.NonEmptyString))

/** The fields of an entry of `servers`, in the order in which they are written. */
export const serverFields = {
  id: text,
  name: text,
  host: text,
  port: field(Port),
  username: text,
  jump: field(JumpList),
  password: secret,
  sudoPassword: secret,
  privateKey: text,
  passphrase: secret,
  agent: field(Schema.Boolean),
  useSudo: field(Schema.Boolean)
} as const

export type ServerField = keyof typeof serverFields

/** The fields without which an entry is not a server. */
export type RequiredField = "id" | "name" | "host" | "username"

/** Credentials: preserved when a replacement omits them, and never part of a response. */
export const credentialFields = ["password", "sudoPassword", "privateKey", "passphrase", "agent"] as const

/** The fields whose values are secret. */
export const secretFields = ["password", "sudoPassword", "passphrase"] as const

/** A server as written in the file, with unresolved references. */
export interface StoredServer {
  readonly line: number
  readonly fields:
    & { readonly [Field in RequiredField]: LocatedValue }
    & { readonly [Field in Exclude<ServerField, RequiredField>]?: LocatedValue }
}
