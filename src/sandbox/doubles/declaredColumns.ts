import { Schema } from "effect"
import type { RecordColumn } from "../../schema/applications/DeclaredField.ts"
import { type RecordField, recordFields } from "../../schema/applications/recordColumns.ts"
import { annotateMessage } from "./decodeRequestBody.ts"

const Rooted = Schema.String.pipe(
  Schema.pattern(/^\/[\w.\-/~@+]*$/, annotateMessage("Must be a path that starts with a slash."))
)
const valueOf = { text: Schema.String, path: Rooted, flag: Schema.Boolean }

/** Maps a column to its key, neutral or Coolify's. */
export type ReadColumnKey = (column: RecordColumn) => string
export const readNeutralKey: ReadColumnKey = ({ key }) => key
export const readCoolifyKey: ReadColumnKey = ({ coolify, key }) => coolify ?? key

const columns = (keyOf: ReadColumnKey) =>
  recordFields.map(({ record }: RecordField) => [keyOf(record), record.kind] as const)

/** Schemas of the declared fields that a platform has no special rule for. */
export const buildAcceptedColumns = (keyOf: ReadColumnKey) =>
  Object.fromEntries(columns(keyOf).map(([key, kind]) => [key, Schema.optional(Schema.NullOr(valueOf[kind]))]))

/**
 * Adds the declared fields that an application lacks, unset.
 * @param nested keys that the platform stores in a nested record
 */
export const withUnsetColumns = <App extends object>(
  keyOf: ReadColumnKey,
  application: App,
  nested: ReadonlyArray<string> = []
) => ({
  ...application,
  ...Object.fromEntries(
    columns(keyOf).filter(([key]) => !(key in application) && !nested.includes(key))
      .map(([key, kind]) => [key, kind === "flag" ? false : null])
  )
})
