import { Predicate, Schema } from "effect"
import { text } from "../../../schema/words/describedFields.ts"
import { strictBody } from "../../../schema/words/strict.ts"

/** Body of the platform, passed through except for fields that the caller may not read. */
export const Relayed = Schema.Unknown.annotations({
  identifier: "Relayed",
  description:
    "The platform's own answer, with *** in place of what the caller may not read; null when it answered nothing.",
  jsonSchema: {}
})

const isObject = (value: unknown): value is { readonly [field: string]: unknown } =>
  Predicate.isRecord(value) && !Array.isArray(value)

/** Any JSON object, passed through: no key is dropped, renamed or reordered. */
export const JsonObject = Schema.declare(isObject, {
  identifier: "JsonObject",
  description: "Any JSON object.",
  message: () => ({ message: "must be a JSON object", override: true }),
  jsonSchema: { type: "object", additionalProperties: true },
  ...strictBody
})

/** Optional body: an absent one counts as an empty object. */
export const optionalBody = <A extends object, I extends object>(schema: Schema.Schema<A, I>, empty: A) =>
  Schema.transform(Schema.NullOr(schema), Schema.typeSchema(schema), {
    strict: true,
    decode: (body) => body ?? empty,
    encode: (body) => body
  }).annotations(strictBody)

/** The `{uuid}` of an application on the platform. */
export const UuidPath = Schema.Struct({ uuid: text("The application's uuid on the platform.", "a1b2c3d4") })
