import { Record, Redacted } from "effect"
import { type Server, type ServerInput, usualSshPort } from "../../../schema/servers/Server.ts"
import { credentialFields, type ServerField, type StoredServer } from "../read/serverFields.ts"
import { isList } from "../read/settingValue.ts"
import type { Fields, FieldValue } from "./yaml/yamlText.ts"

/** Fields that a replacement sets, in the order in which they are written; `null` clears a field. */
export type FieldChanges = Readonly<Record<string, FieldValue | null>>

/** Public fields of a server except its id. */
export type PublicFields = Omit<Server, "id">

/** Public fields of an input. */
export const pickPublicFields = (input: ServerInput): PublicFields => ({
  name: input.name,
  host: input.host,
  port: input.port ?? usualSshPort,
  username: input.username,
  ...(input.jump === null || input.jump === undefined ? {} : { jump: input.jump }),
  useSudo: input.useSudo ?? false
})

/** A credential in the input; an empty one counts as `null`. */
const mentioned = (input: ServerInput, field: typeof credentialFields[number]): FieldValue | null | undefined => {
  const value = input[field]
  const open = Redacted.isRedacted(value) ? Redacted.value(value) : value
  return open === "" ? null : open
}

const withValue = (fields: Readonly<Record<string, FieldValue | null | undefined>>): Fields =>
  Record.filter(fields, (value) => value !== null && value !== undefined)

/** All fields to write for a new server. */
export const buildNewServer = (id: string, input: ServerInput): Fields => {
  const { useSudo, ...shown } = pickPublicFields(input)
  const credentials = credentialFields.map((field) => [field, mentioned(input, field)] as const)
  return withValue({ id, ...shown, ...Object.fromEntries(credentials), useSudo })
}

const writtenText = ({ fields }: StoredServer, field: ServerField) => {
  const written = fields[field]?.written
  return written === undefined || isList(written) ? undefined : written.text
}

/** Resolvable public fields of a stored server; `jump` is null if it has no jump host. */
export type ResolvedFields = {
  readonly [Field in keyof PublicFields]?: PublicFields[Field] | (Field extends "jump" ? null : never) | undefined
}

/** Public fields of a stored server after its replacement: jump hosts missing from the input are kept. */
export const computePublicFields = (stored: StoredServer, known: ResolvedFields, input: ServerInput): PublicFields => {
  const kept = known.jump === undefined ? writtenText(stored, "jump") : known.jump
  return pickPublicFields(input.jump === undefined ? { ...input, jump: kept } : input)
}

/**
 * Computes the changes that replace a stored server. `known` has its resolvable public fields: an unchanged value keeps
 * its reference. Credentials missing from the input are kept, unless they would be sent to another host, port, user or
 * through other jump hosts.
 */
export const computeServerChanges = (
  stored: StoredServer,
  known: ResolvedFields,
  input: ServerInput
): FieldChanges => {
  const shown = pickPublicFields(input)
  const stays = (field: keyof PublicFields) =>
    known[field] === shown[field] || writtenText(stored, field) === String(shown[field])
  // Jump hosts missing from the input are kept. Other ones may lead to another machine with the same address.
  const jumpStays = input.jump === undefined || input.jump === known.jump ||
    (input.jump !== null && writtenText(stored, "jump") === input.jump)
  const moved = !(stays("host") && stays("port") && stays("username") && jumpStays)
  const changes: Record<string, FieldValue | null> = {}
  for (const field of ["name", "host", "port", "username"] as const) if (!stays(field)) changes[field] = shown[field]
  if (!jumpStays) changes["jump"] = shown.jump ?? null
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
