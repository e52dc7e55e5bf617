import { Either, Schema } from "effect"
import { formatList, listSchemaFields } from "../words/expected.ts"
import { makeRouteDecoder, type RouteInvalid } from "./Route.ts"

/** A required field of a route is missing or empty. `fields` lists all required ones. */
export class RouteFieldsMissing extends Schema.TaggedError<RouteFieldsMissing>()("RouteFieldsMissing", {
  fields: Schema.Array(Schema.String)
}) {
  override get message() {
    return `${formatList(this.fields, "and")} ${this.fields.length === 1 ? "is" : "are"} required`
  }
}

const isFilled = (value: unknown) => value !== undefined && value !== null && value !== ""

/** Creates a decoder of a route: first requires every field to be non-empty, then validates them. */
export const makeCompleteRouteDecoder = <A, I>(schema: Schema.Schema<A, I>) => {
  const fields = listSchemaFields(schema.ast)
  const read = makeRouteDecoder(schema)
  return (given: { readonly [field: string]: unknown }): Either.Either<A, RouteFieldsMissing | RouteInvalid> =>
    fields.every((field) => isFilled(given[field])) ? read(given) : Either.left(new RouteFieldsMissing({ fields }))
}
