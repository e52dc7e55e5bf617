import { Schema } from "effect"
import { quoteInput } from "../words/quoted.ts"
import { declaredFields, Line } from "./declaredFields.ts"

/** Application of a project's `platform.json`. Null and empty values count as absent and are removed. */
export const PlatformEntry = Schema.Struct({
  name: Schema.propertySignature(Line).annotations({
    description: "The name of the application, by which it is found on the platform.",
    example: "hello"
  }),
  ...declaredFields
}).annotations({ identifier: "PlatformEntry" })
export interface PlatformEntry extends Schema.Schema.Type<typeof PlatformEntry> {}

/** Entry as written in the file, with every key. */
export const RawEntry = Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({
  identifier: "PlatformFileEntry",
  description: "An entry of platform.json as it stands in the file."
})
export type RawEntry = typeof RawEntry.Type

/** The given project directory has no `platform.json`. */
export class PlatformFileMissing extends Schema.TaggedError<PlatformFileMissing>()("PlatformFileMissing", {
  path: Schema.String
}) {
  override get message() {
    return `No platform.json found in ${quoteInput(this.path)}: path is the absolute path of the project's directory`
  }
}

/** Entry of the file, raw and decoded. */
export interface DeclaredApp {
  readonly raw: RawEntry
  readonly entry: PlatformEntry
  /** Warnings of unknown keys, which are kept and have no effect. */
  readonly warnings: ReadonlyArray<string>
}
