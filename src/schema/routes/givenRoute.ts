import { Either, Schema } from "effect"
import { formatList, listSchemaFields } from "../words/expected.ts"
import { makeRouteDecoder, type RouteInvalid } from "./Route.ts"

/** Something has to be said about a route that was not said. `fields` are all that have to be said. */
export class RouteFieldsMissing extends Schema.TaggedError<RouteFieldsMissing>()("RouteFieldsMissing", {
  fields: Schema.Array(Schema.String)
}) {
  override get message() {
    return `${formatList(this.fields, "and")} ${this.fields.length === 1 ? "is" : "are"} required`
  }
}

const isFilled = (value: unknown) => value !== undefined && value !== null && value !== ""

/** Reads what somebody says of a route: first whether every field is there and not empty, then whether it fits. */
export const makeCompleteRouteDecoder = <A, I>(schema: Schema.Schema<A, I>) => {
  const fields = listSchemaFields(schema.ast)
  const read = makeRouteDecoder(schema)
  return (given: { readonly [field: string]: unknown }): Either.Either<A, RouteFieldsMissing | RouteInvalid> =>
    fields.every((field) => isFilled(given[field])) ? read(given) : Either.left(new RouteFieldsMissing({ fields }))
}
