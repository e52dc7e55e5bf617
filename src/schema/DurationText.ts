import { Duration, Option, ParseResult, Schema } from "effect"

/** A time span in words: `20 seconds`, `5 minutes`. A bare number is milliseconds. */
export const DurationText = Schema.transformOrFail(
  Schema.Union(Schema.String, Schema.NonNegative),
  Schema.DurationFromSelf,
  {
    decode: (text, _, ast) =>
      Option.match(Duration.decodeUnknown(typeof text === "number" ? text : text.trim()), {
        onNone: () => ParseResult.fail(new ParseResult.Type(ast, text, "is no duration: write it like \"20 seconds\"")),
        onSome: (duration) => ParseResult.succeed(duration)
      }),
    encode: (duration) => ParseResult.succeed(`${Duration.toMillis(duration)} millis`)
  }
).annotations({ identifier: "DurationText", jsonSchema: { type: "string" } })
