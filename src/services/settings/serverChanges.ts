import { Record, Redacted } from "effect"
import { type Server, type ServerInput, usualSshPort } from "../../schema/Server.ts"
import { credentialFields, type ServerField, type StoredServer } from "./serverFields.ts"
import { isList } from "./settingValue.ts"
import type { Fields, FieldValue } from "./yamlText.ts"

/** What a replacement sets, in the order in which it is written; `null` clears a field. */
export type Changes = Readonly<Record<string, FieldValue | null>>

/** What replies show of a server beside its id. */
export type Shown = Omit<Server, "id">

/** What a caller wants replies to show. */
export const shownBy = (input: ServerInput): Shown => ({
  name: input.name,
  host: input.host,
  port: input.port ?? usualSshPort,
  username: input.username,
  useSudo: input.useSudo ?? false
})

/** A credential that a caller mentions: an empty one is as good as `null`. */
const mentioned = (input: ServerInput, field: typeof credentialFields[number]): FieldValue | null | undefined => {
  const value = input[field]
  const open = Redacted.isRedacted(value) ? Redacted.value(value) : value
  return open === "" ? null : open
}

const withValue = (fields: Readonly<Record<string, FieldValue | null | undefined>>): Fields =>
  Record.filter(fields, (value) => value !== null && value !== undefined)

/** Everything that is written of a new server. */
export const newServer = (id: string, input: ServerInput): Fields => {
  const { useSudo, ...shown } = shownBy(input)
  const credentials = credentialFields.map((field) => [field, mentioned(input, field)] as const)
  return withValue({ id, ...shown, ...Object.fromEntries(credentials), useSudo })
}

const writtenText = ({ fields }: StoredServer, field: ServerField) => {
  const written = fields[field]?.written
  return written === undefined || isList(written) ? undefined : written.text
}

/**
 * What changes in a stored server that a caller replaces. `known` holds what it shows now, as far as its references
 * can be resolved: what stays equal keeps its reference. Credentials that the caller does not mention are kept, unless
 * they would go to another host, port or user.
 */
export const replacedServer = (
  stored: StoredServer,
  known: { readonly [Field in keyof Shown]: Shown[Field] | undefined },
  input: ServerInput
): Changes => {
  const shown = shownBy(input)
  const stays = (field: keyof Shown) =>
    known[field] === shown[field] || writtenText(stored, field) === String(shown[field])
  const moved = !(stays("host") && stays("port") && stays("username"))
  const changes: Record<string, FieldValue | null> = {}
  for (const field of ["name", "host", "port", "username"] as const) if (!stays(field)) changes[field] = shown[field]
  for (const field of credentialFields) {
    const given = mentioned(input, field)
    const value = given === undefined && moved ? null : given
    const old = writtenText(stored, field)
    if (value === null ? old !== undefined : value !== undefined && String(value) !== old) {
      changes[field] = value ?? null
    }
  }
  if (!stays("useSudo")) changes["useSudo"] = shown.useSudo
  return changes
}
