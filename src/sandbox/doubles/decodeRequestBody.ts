import { Effect, ParseResult, Schema } from "effect"
import { Refused } from "./Refused.ts"

/** An annotation: what is said of a value that does not fit. */
export const annotateMessage = (message: string) => ({ message: () => message })

/** A text that must not be empty. */
export const Filled = Schema.NonEmptyString.annotations(annotateMessage("The field is required."))

export const nullable = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

/** URLs with commas between them. */
export const Addresses = Schema.String.pipe(
  Schema.filter(
    (text) => text === "" || text.split(",").every((url) => /^https?:\/\/[^\s/]+/.test(url)),
    annotateMessage("Invalid URL.")
  )
)

/** Reads the body of a request; every field that is wrong, missing or unknown is named. */
export const decodeRequestBody = <A, I>(what: string, schema: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknown(schema, { errors: "all", onExcessProperty: "error" })
  return (body: unknown): Effect.Effect<A, Refused> =>
    Effect.mapError(decode(body), (error) => {
      const issues = ParseResult.ArrayFormatter.formatErrorSync(error)
      const fields: Record<string, ReadonlyArray<string>> = {}
      for (const { _tag, message, path } of issues) {
        // An optional field that does not fit is also said not to be absent.
        if (message.startsWith("Expected undefined")) continue
        const field = path.map(String).join(".") || "body"
        // Real platforms have such a message for types.
        const said = message.startsWith("Expected ") ? "This field has the wrong type." : message
        const reason = _tag === "Unexpected" ? "This field is not allowed." : said
        fields[field] = [...new Set([...fields[field] ?? [], reason])]
      }
      return Refused.invalid(what, fields)
    })
}
