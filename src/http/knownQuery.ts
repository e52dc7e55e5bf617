import { HttpApi, HttpServerRequest } from "@effect/platform"
import { Effect, Layer, Option } from "effect"
import { placeOf } from "../schema/inWords.ts"
import { ApiError } from "./api/ApiError.ts"
import { BerthApi } from "./api/BerthApi.ts"
import { KnownQuery } from "./api/KnownQuery.ts"
import { refuseBody } from "./refuseBody.ts"
import { routedPath } from "./routedPath.ts"

/** Where an endpoint is, and what its schema judges of a request. */
interface Endpoint {
  readonly method: string
  readonly path: RegExp
  readonly takesQuery: boolean
  readonly takesBody: boolean
}

const endpoints: Array<Endpoint> = []
HttpApi.reflect(BerthApi, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint: { method, path, payloadSchema, urlParamsSchema } }) => {
    endpoints.push({
      method,
      path: new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`, "i"),
      takesQuery: Option.isSome(urlParamsSchema),
      takesBody: Option.isSome(payloadSchema)
    })
  }
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
    const path = routedPath(request.url)
    const endpoint = endpoints.find((one) => one.method === request.method && one.path.test(path))
    const names = [...new URLSearchParams(query).keys()]
    const [name] = names
    if (name !== undefined && endpoint?.takesQuery === false) {
      return yield* refuse(`${placeOf([name])} is not a known query parameter. This endpoint takes none`)
    }
    // No schema gets to see it: it is lost where the query becomes an object.
    if (names.includes("__proto__")) return yield* refuse("__proto__ is not a known query parameter")
    const repeated = repeatedIn(names)
    if (repeated !== undefined) return yield* refuse(`${placeOf([repeated])} is given more than once in the query`)
    if (endpoint?.takesBody === false && request.method !== "GET") yield* refuseBody(request)
  })
)
