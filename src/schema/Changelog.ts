import { Schema } from "effect"
import { field, number, projectPath, text, textOrNull } from "./described.ts"
import { RawEntry } from "./PlatformFile.ts"
import { strictQuery } from "./strict.ts"

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

/** How many entries a page of a changelog has at most. */
export const maxChangelogEntries = 100
const limitWords = `must be a whole number from 1 to ${maxChangelogEntries}`

/** Which part of a project's changelog is asked for. */
export const ChangelogQuery = Schema.Struct({
  projectPath,
  appName: Schema.optional(text("Only what was done to the application with this name.", "hello")),
  limit: Schema.optional(
    Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, maxChangelogEntries)).annotations({
      message: () => ({ message: limitWords, override: true }),
      jsonSchema: { type: "integer", minimum: 1, maximum: maxChangelogEntries, default: 20 }
    })
  ).annotations({ description: "How many entries to list at most." }),
  before: Schema.optional(
    Schema.NumberFromString.pipe(Schema.int(), Schema.positive()).annotations({
      message: () => ({ message: "must be what the page before named as \"next\"", override: true }),
      jsonSchema: { type: "string" }
    })
  ).annotations({ description: "What the page before named as `next`." })
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
    description: "What upserts did, newest first."
  }),
  next: textOrNull("What to ask for as `before` to get the page after this one; null on the last page."),
  unreadable: number("How many entries of the file are not what an upsert writes, and are left out.", 0)
}).annotations({ identifier: "ChangelogPage" })
export interface ChangelogPage extends Schema.Schema.Type<typeof ChangelogPage> {}
