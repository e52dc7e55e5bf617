import { Schema } from "effect"
import { quoteInput } from "../words/quoted.ts"
import { declaredFields, Line } from "./declaredFields.ts"

/** Application of a project's `platform.json`, without what is null or empty in it: that counts as absent. */
export const PlatformEntry = Schema.Struct({
  name: Schema.propertySignature(Line).annotations({
    description: "The name of the application, by which it is found on the platform.",
    example: "hello"
  }),
  ...declaredFields
}).annotations({ identifier: "PlatformEntry" })
export interface PlatformEntry extends Schema.Schema.Type<typeof PlatformEntry> {}

/** An entry as it stands in the file, every key kept. */
export const RawEntry = Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({
  identifier: "PlatformFileEntry",
  description: "An entry of platform.json as it stands in the file."
})
export type RawEntry = typeof RawEntry.Type

/** There is no `platform.json` where the project is said to be. */
export class PlatformFileMissing extends Schema.TaggedError<PlatformFileMissing>()("PlatformFileMissing", {
  path: Schema.String
}) {
  override get message() {
    return `No platform.json found in ${quoteInput(this.path)}: path is the absolute path of the project's directory`
  }
}

/** An entry of the file, as it is and as it is understood. */
export interface DeclaredApp {
  readonly raw: RawEntry
  readonly entry: PlatformEntry
  /** Warnings of unknown keys, which are kept and have no effect. */
  readonly warnings: ReadonlyArray<string>
}
