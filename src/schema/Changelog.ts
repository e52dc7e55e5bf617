import { Schema } from "effect"
import { field, text } from "./described.ts"
import { RawEntry } from "./PlatformFile.ts"

/** The name of a project's changelog. */
export const changelogFileName = "platform.changelog.json"

/** A field that an upsert changed. */
export const Change = Schema.Struct({
  field: text("The name of the field in platform.json.", "branch"),
  label: text("What people call the field.", "Branch"),
  old: Schema.Unknown.annotations({ description: "Its value before; null when it had none." }),
  new: Schema.Unknown.annotations({ description: "Its value since." })
}).annotations({ identifier: "Change" })
export interface Change extends Schema.Schema.Type<typeof Change> {}

/** What one upsert did. */
export const ChangelogEntry = Schema.Struct({
  timestamp: text("When the upsert ended, in UTC.", "2026-01-02T03:04:05.678Z"),
  action: Schema.Literal("create", "update").annotations({
    description: "Whether the application was created, or existed and was updated."
  }),
  appName: text("The name of the application.", "hello"),
  uuid: text("The application's uuid on the platform.", "a1b2c3d4"),
  changes: Schema.Array(Change).annotations({ description: "The fields that were changed; empty for a new one." }),
  configSnapshot: field(RawEntry, "The entry of platform.json as it was then.")
}).annotations({ identifier: "ChangelogEntry" })
export interface ChangelogEntry extends Schema.Schema.Type<typeof ChangelogEntry> {}
