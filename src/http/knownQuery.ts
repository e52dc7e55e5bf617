import { HttpApi, HttpRouter, HttpServerRequest } from "@effect/platform"
import { Effect, Layer, Option, Schema, SchemaAST } from "effect"
import { formatPath } from "../schema/words/describeIssues.ts"
import { ApiError } from "./api/annotations/ApiError.ts"
import { KnownQuery } from "./api/annotations/KnownQuery.ts"
import { BerthApi } from "./api/BerthApi.ts"
import { refuseBody } from "./refuseBody.ts"

/** Endpoints by `POST /path`, with the names of their query parameters and if they take a body. */
const endpoints = new Map<string, {
  readonly query: ReadonlyArray<string>
  /** Parameters that may be repeated. */
  readonly lists: ReadonlyArray<string>
  readonly takesBody: boolean
}>()
const propertiesOf = <A, I, R>(schema: Schema.Schema<A, I, R>) =>
  SchemaAST.getPropertySignatures(Schema.encodedSchema(schema).ast)
HttpApi.reflect(BerthApi, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint: { method, path, payloadSchema, urlParamsSchema } }) =>
    void endpoints.set(`${method} ${path}`, {
      query: Option.match(urlParamsSchema, {
        onNone: () => [],
        onSome: (schema) => propertiesOf(schema).map(({ name }) => String(name))
      }),
      lists: Option.match(urlParamsSchema, {
        onNone: () => [],
        onSome: (schema) =>
          propertiesOf(schema).flatMap(({ name, type }) => SchemaAST.isTupleType(type) ? [String(name)] : [])
      }),
      takesBody: Option.isSome(payloadSchema)
    })
})

const refuse = (message: string) => new ApiError({ status: 400, message })

const repeatedIn = (names: ReadonlyArray<string>): string | undefined => {
  const seen = new Set<string>()
  return names.find((name) => seen.size === seen.add(name).size)
}

/** Endpoints with only query parameters, or only a body, refuse unknown fields by their schema. */
export const KnownQueryLive = Layer.succeed(
  KnownQuery,
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const [, query = ""] = request.url.split(/\?([^]*)/)
    const { route } = yield* HttpRouter.RouteContext
    const endpoint = endpoints.get(`${route.method} ${route.path}`)
    const names = [...new URLSearchParams(query).keys()]
    // The schema of a query refuses unknown parameters too, but only after the body was decoded.
    const known = endpoint?.query ?? names
    const name = known.length === 0 || endpoint?.takesBody === true
      ? names.find((name) => !known.includes(name))
      : undefined
    if (name !== undefined) {
      return yield* refuse(
        `${formatPath([name])} is not a known query parameter. This endpoint takes ${known.join(", ") || "none"}`
      )
    }
    // Schemas never see it, because it is lost when the query becomes an object.
    if (names.includes("__proto__")) return yield* refuse("__proto__ is not a known query parameter")
    const repeated = repeatedIn(names.filter((name) => endpoint?.lists.includes(name) !== true))
    if (repeated !== undefined) return yield* refuse(`${formatPath([repeated])} is given more than once in the query`)
    if (endpoint?.takesBody === false && !["GET", "HEAD"].includes(request.method)) yield* refuseBody(request)
  })
)
