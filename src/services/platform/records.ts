import { Effect, Predicate } from "effect"
import {
  type PlatformRecord,
  type PlatformServer,
  PlatformUnavailable,
  type Raw
} from "../../schema/applications/PlatformApp.ts"
import { recordFields } from "../../schema/applications/recordColumns.ts"

/** Reads a text; anything else counts as absent. */
const textOf = (value: unknown): string | undefined =>
  Predicate.isString(value)
    ? value
    : Predicate.isNumber(value) || Predicate.isBoolean(value)
    ? String(value)
    : undefined

/** Reads a flag, which platforms encode in several ways. */
const flagOf = (value: unknown): boolean | undefined =>
  [true, 1, "1", "true"].some((yes) => yes === value)
    ? true
    : [false, 0, "0", "false"].some((no) => no === value)
    ? false
    : undefined

const columnsOf = (raw: Raw) =>
  Object.fromEntries(
    recordFields.map(({ record: { key, kind } }) => [key, kind === "flag" ? flagOf(raw[key]) : textOf(raw[key])])
  )

/** Reads the known fields of a record; one that does not fit counts as absent. */
export const decodeRecord = (raw: Raw): PlatformRecord => ({
  ...columnsOf(raw),
  uuid: textOf(raw["uuid"]) ?? "",
  name: textOf(raw["name"]) ?? "",
  fqdn: textOf(raw["fqdn"]),
  manual_webhook_secret_githost: textOf(raw["manual_webhook_secret_githost"]),
  server_uuid: textOf(raw["server_uuid"]),
  raw
})

const serverOf = (raw: Raw): PlatformServer => ({
  uuid: textOf(raw["uuid"]) ?? "",
  name: textOf(raw["name"]) ?? "",
  ip: textOf(raw["ip"])
})

const mostRecords = 10_000

/** Reads the records of a list; other items are skipped. */
const listed = (call: string, body: unknown): Effect.Effect<ReadonlyArray<Raw>, PlatformUnavailable> => {
  if (!Array.isArray(body)) {
    return new PlatformUnavailable({ call, reason: "answered something unexpected, not a list" })
  }
  return body.length > mostRecords
    ? new PlatformUnavailable({ call, reason: `answered a list of more than ${mostRecords} records` })
    : Effect.succeed(body.filter(Predicate.isReadonlyRecord))
}

/** Reads the list of applications. */
export const decodeApps = (body: unknown) =>
  Effect.map(listed("GET /applications", body), (records) => records.map(decodeRecord))

/** Reads the full record of an application, and sets its uuid to the requested one. */
export const decodeApp = (uuid: string) => (body: unknown): Effect.Effect<PlatformRecord, PlatformUnavailable> =>
  Predicate.isReadonlyRecord(body)
    ? Effect.succeed({ ...decodeRecord(body), uuid })
    : new PlatformUnavailable({
      call: "GET /applications/{uuid}",
      reason: "answered something unexpected, not an application"
    })

/** Reads a list of environment variables. */
export const decodeEnvs = (body: unknown) => listed("GET /applications/{uuid}/envs", body)

/** The text of a variable's value. */
export const formatEnvValue = (value: unknown): string => textOf(value) ?? JSON.stringify(value)

/** The key of a variable. */
export const readEnvKey = (raw: Raw): string => textOf(raw["key"]) ?? ""

/** Reads the list of servers. */
export const decodeServers = (body: unknown) =>
  Effect.map(listed("GET /servers", body), (records) => records.map(serverOf))
