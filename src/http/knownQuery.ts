import { HttpApi, HttpRouter, HttpServerRequest } from "@effect/platform"
import { Effect, Layer, Option } from "effect"
import { placeOf } from "../schema/inWords.ts"
import { ApiError } from "./api/ApiError.ts"
import { BerthApi } from "./api/BerthApi.ts"
import { KnownQuery } from "./api/KnownQuery.ts"
import { refuseBody } from "./refuseBody.ts"

/** Endpoints by `POST /path`, with the parts of a request that their schemas judge. */
const endpoints = new Map<string, { readonly takesQuery: boolean; readonly takesBody: boolean }>()
HttpApi.reflect(BerthApi, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint: { method, path, payloadSchema, urlParamsSchema } }) =>
    void endpoints.set(`${method} ${path}`, {
      takesQuery: Option.isSome(urlParamsSchema),
      takesBody: Option.isSome(payloadSchema)
    })
})

const refuse = (message: string) => new ApiError({ status: 400, message })

const repeatedIn = (names: ReadonlyArray<string>): string | undefined => {
  const seen = new Set<string>()
  return names.find((name) => seen.size === seen.add(name).size)
}

/** What an endpoint with parameters or a body of its own does not know, its schema refuses. */
export const KnownQueryLive = Layer.succeed(
  KnownQuery,
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const [, query = ""] = request.url.split(/\?([^]*)/)
    const { route } = yield* HttpRouter.RouteContext
    const endpoint = endpoints.get(`${route.method} ${route.path}`)
    const names = [...new URLSearchParams(query).keys()]
    const [name] = names
    if (name !== undefined && endpoint?.takesQuery === false) {
      return yield* refuse(`${placeOf([name])} is not a known query parameter. This endpoint takes none`)
    }
    // No schema gets to see it: it is lost where the query becomes an object.
    if (names.includes("__proto__")) return yield* refuse("__proto__ is not a known query parameter")
    const repeated = repeatedIn(names)
    if (repeated !== undefined) return yield* refuse(`${placeOf([repeated])} is given more than once in the query`)
    if (endpoint?.takesBody === false && !["GET", "HEAD"].includes(request.method)) yield* refuseBody(request)
  })
)
