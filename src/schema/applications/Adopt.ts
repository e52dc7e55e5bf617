import { Schema } from "effect"
import { field, text } from "../words/describedFields.ts"
import { cut, quoteInput } from "../words/quoted.ts"
import { strictBody } from "../words/strict.ts"
import { DriftUnknown } from "./Drift.ts"
import { RawEntry } from "./PlatformFile.ts"

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

/** Written entry, and the properties of the application that it lacks. */
export const Adoption = Schema.Struct({
  action: Schema.Literal("added", "replaced").annotations({
    description: "Change of platform.json: a new entry, or a replaced one."
  }),
  uuid: text("The application's uuid on the platform.", "a1b2c3d4"),
  entry: field(RawEntry, "The entry as it stands in platform.json now."),
  unknown: Schema.Array(DriftUnknown).annotations({
    description: "Fields that the platform does not tell: not in the entry, unless they were there before."
  }),
  warnings: Schema.Array(Schema.String).annotations({
    description: "Properties of the application that the entry cannot express."
  })
}).annotations({ identifier: "Adoption" })
export interface Adoption extends Schema.Schema.Type<typeof Adoption> {}

/** The project declares an application of that name already. Nothing was written. */
export class EntryExists extends Schema.TaggedError<EntryExists>()("EntryExists", {
  file: Schema.String,
  name: Schema.String
}) {
  readonly status = 409
  override get message() {
    return `${cut(this.file)} has an entry named ${quoteInput(this.name)} already, and was not changed: ` +
      "send \"replace\": true to replace it"
  }
}

/** An entry of `platform.json` cannot express the application. Nothing was written. */
export class NotDeclarable extends Schema.TaggedError<NotDeclarable>()("NotDeclarable", {
  name: Schema.String,
  reason: Schema.String
}) {
  readonly status = 422
  override get message() {
    return `The application ${
      quoteInput(this.name)
    } cannot be declared in platform.json, and nothing was written: ${this.reason}`
  }
}
