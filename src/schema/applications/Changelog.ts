import { Schema } from "effect"
import { field, number, projectPath, text, textOrNull } from "../words/describedFields.ts"
import { strictQuery } from "../words/strict.ts"
import { RawEntry } from "./PlatformFile.ts"

/** The name of a project's changelog. */
export const changelogFileName = "platform.changelog.json"

/** Field changed by an upsert. */
export const Change = Schema.Struct({
  field: text("The name of the field in platform.json.", "branch"),
  label: text("Label of the field.", "Branch"),
  old: Schema.Unknown.annotations({ description: "Its value before; null when it had none." }),
  new: Schema.Unknown.annotations({ description: "Its value since." })
}).annotations({ identifier: "Change" })
export interface Change extends Schema.Schema.Type<typeof Change> {}

/** Record of one upsert. */
export const ChangelogEntry = Schema.Struct({
  timestamp: text("When the upsert ended, in UTC.", "2026-01-02T03:04:05.678Z"),
  action: Schema.Literal("create", "update").annotations({
    description: "Action: the application was created, or existed and was updated."
  }),
  appName: text("The name of the application.", "hello"),
  uuid: text("The application's uuid on the platform.", "a1b2c3d4"),
  changes: Schema.Array(Change).annotations({ description: "The fields that were changed; empty for a new one." }),
  configSnapshot: field(RawEntry, "The entry of platform.json as it was then.")
}).annotations({ identifier: "ChangelogEntry" })
export interface ChangelogEntry extends Schema.Schema.Type<typeof ChangelogEntry> {}

/** Maximum number of entries on a page. */
export const maxChangelogEntries = 100
const limitWords = `must be a whole number from 1 to ${maxChangelogEntries}`

/** Query for a page of a project's changelog. */
export const ChangelogQuery = Schema.Struct({
  projectPath,
  appName: Schema.optional(text("Only what was done to the application with this name.", "hello")),
  limit: Schema.optional(
    Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, maxChangelogEntries)).annotations({
      message: () => ({ message: limitWords, override: true }),
      jsonSchema: { type: "integer", minimum: 1, maximum: maxChangelogEntries, default: 20 }
    })
  ).annotations({ description: "Most entries to list." }),
  before: Schema.optional(
    Schema.NumberFromString.pipe(Schema.int(), Schema.positive()).annotations({
      message: () => ({ message: "must be what the page before named as \"next\"", override: true }),
      jsonSchema: { type: "string" }
    })
  ).annotations({ description: "Cursor that the page before gave as `next`." })
}).annotations(strictQuery)
export interface ChangelogQuery extends Schema.Schema.Type<typeof ChangelogQuery> {}

/** A page of a project's changelog, newest first. */
export const ChangelogPage = Schema.Struct({
  entries: Schema.Array(
    Schema.Struct({
      number: number("Its place in the file, from 1 for the oldest.", 12),
      ...ChangelogEntry.fields
    }).annotations({ identifier: "NumberedChangelogEntry" })
  ).annotations({
    description: "Changes by upserts, newest first."
  }),
  next: textOrNull(
    "Cursor of the next page, to be sent as `before` to get the page after this one; null on the last page."
  ),
  unreadable: number("Number of entries left out since no upsert writes such entries.", 0)
}).annotations({ identifier: "ChangelogPage" })
export interface ChangelogPage extends Schema.Schema.Type<typeof ChangelogPage> {}
