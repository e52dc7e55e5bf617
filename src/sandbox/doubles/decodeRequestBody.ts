import { Effect, ParseResult, Schema } from "effect"
import { Refused } from "./Refused.ts"

/** Annotates a schema with the message for invalid values. */
export const annotateMessage = (message: string) => ({ message: () => message })

/** Non-empty string. */
export const Filled = Schema.NonEmptyString.annotations(annotateMessage("The field is required."))

export const nullable = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

/** URLs with commas between them. */
export const Addresses = Schema.String.pipe(
  Schema.filter(
    (text) => text === "" || text.split(",").every((url) => /^https?:\/\/[^\s/]+/.test(url)),
    annotateMessage("Invalid URL.")
  )
)

/** Decodes the body of a request; the refusal lists every invalid, missing or unknown field. */
export const decodeRequestBody = <A, I>(what: string, schema: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknown(schema, { errors: "all", onExcessProperty: "error" })
  return (body: unknown): Effect.Effect<A, Refused> =>
    Effect.mapError(decode(body), (error) => {
      const issues = ParseResult.ArrayFormatter.formatErrorSync(error)
      const fields: Record<string, ReadonlyArray<string>> = {}
      for (const { _tag, message, path } of issues) {
        // Invalid optional fields get this issue as well, for the union's `undefined`.
        if (message.startsWith("Expected undefined")) continue
        const field = path.map(String).join(".") || "body"
        // Real platforms answer type errors with such a message.
        const said = message.startsWith("Expected ") ? "This field has the wrong type." : message
        const reason = _tag === "Unexpected" ? "This field is not allowed." : said
        fields[field] = [...new Set([...fields[field] ?? [], reason])]
      }
      return Refused.invalid(what, fields)
    })
}
