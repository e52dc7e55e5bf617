import { Schema } from "effect"
import { RawEntry } from "./PlatformFile.ts"

/** The name of a project's changelog. */
export const changelogFileName = "platform.changelog.json"

/** A field that an upsert changed. */
export const Change = Schema.Struct({
  field: Schema.String,
  label: Schema.String,
  old: Schema.Unknown,
  new: Schema.Unknown
}).annotations({ identifier: "Change" })
export interface Change extends Schema.Schema.Type<typeof Change> {}

/** What one upsert did. */
export const ChangelogEntry = Schema.Struct({
  timestamp: Schema.String.annotations({ description: "ISO 8601." }),
  action: Schema.Literal("create", "update"),
  appName: Schema.String,
  uuid: Schema.String,
  changes: Schema.Array(Change),
  configSnapshot: RawEntry
}).annotations({ identifier: "ChangelogEntry" })
export interface ChangelogEntry extends Schema.Schema.Type<typeof ChangelogEntry> {}
