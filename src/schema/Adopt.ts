import { Schema } from "effect"
import { field, text } from "./described.ts"
import { DriftUnknown } from "./Drift.ts"
import { RawEntry } from "./PlatformFile.ts"
import { cut, quoted } from "./quoted.ts"
import { strictBody } from "./strict.ts"

const filled = (description: string) =>
  Schema.NonEmptyString.annotations({ description, message: () => "must not be empty" })

/** A live application to declare in a project's `platform.json`. */
export const AdoptRequest = Schema.Struct({
  uuid: filled("The application's uuid on the platform."),
  projectPath: filled("The absolute path of the project's directory."),
  replace: Schema.optional(Schema.NullOr(Schema.Boolean)).annotations({
    description: "true: replace the entry of the application's name, when there is one.",
    default: false
  })
}).annotations({ identifier: "AdoptRequest", ...strictBody })
export interface AdoptRequest extends Schema.Schema.Type<typeof AdoptRequest> {}

/** The entry that was written, and what of the application it does not hold. */
export const Adoption = Schema.Struct({
  action: Schema.Literal("added", "replaced").annotations({
    description: "Whether platform.json got a new entry, or one that was there was replaced."
  }),
  uuid: text("The application's uuid on the platform.", "a1b2c3d4"),
  entry: field(RawEntry, "The entry as it stands in platform.json now."),
  unknown: Schema.Array(DriftUnknown).annotations({
    description: "What the platform keeps to itself: it is not in the entry, unless it was there before."
  }),
  warnings: Schema.Array(Schema.String).annotations({ description: "What the entry cannot say of the application." })
}).annotations({ identifier: "Adoption" })
export interface Adoption extends Schema.Schema.Type<typeof Adoption> {}

/** The project declares an application of that name already. Nothing was written. */
export class EntryExists extends Schema.TaggedError<EntryExists>()("EntryExists", {
  file: Schema.String,
  name: Schema.String
}) {
  readonly status = 409
  override get message() {
    return `${cut(this.file)} has an entry named ${quoted(this.name)} already, and was not changed: ` +
      "send \"replace\": true to replace it"
  }
}

/** The application is something that an entry of `platform.json` cannot say. Nothing was written. */
export class NotDeclarable extends Schema.TaggedError<NotDeclarable>()("NotDeclarable", {
  name: Schema.String,
  reason: Schema.String
}) {
  readonly status = 422
  override get message() {
    return `The application ${
      quoted(this.name)
    } cannot be declared in platform.json, and nothing was written: ${this.reason}`
  }
}
