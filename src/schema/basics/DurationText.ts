import { Duration, Option, ParseResult, Schema } from "effect"

const reasonOf = (written: string | number): string =>
  typeof written === "number" || /^\s*[\d.]{1,20}\s*$/.test(written)
    ? "must have a unit: write \"30 seconds\""
    : "is not a duration: write it like \"20 seconds\""

/** Duration in words: `20 seconds`, `5 minutes`. A bare number is refused, because its unit would be ambiguous. */
export const DurationText = Schema.transformOrFail(
  Schema.Union(Schema.String, Schema.Number),
  Schema.DurationFromSelf,
  {
    decode: (written, _, ast) =>
      Option.match(typeof written === "number" ? Option.none() : Duration.decodeUnknown(written.trim()), {
        onNone: () => ParseResult.fail(new ParseResult.Type(ast, written, reasonOf(written))),
        onSome: (duration) => ParseResult.succeed(duration)
      }),
    encode: (duration) => ParseResult.succeed(`${Duration.toMillis(duration)} millis`)
  }
).annotations({ identifier: "DurationText", jsonSchema: { type: "string" } })
