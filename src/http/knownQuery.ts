import { HttpApi, HttpServerRequest } from "@effect/platform"
import { Effect, Layer, Option } from "effect"
import { placeOf } from "../schema/inWords.ts"
import { ApiError } from "./api/ApiError.ts"
import { BerthApi } from "./api/BerthApi.ts"
import { KnownQuery } from "./api/KnownQuery.ts"

interface Address {
  readonly method: string
  readonly path: RegExp
}

const withoutQuery: Array<Address> = []
HttpApi.reflect(BerthApi, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint: { method, path, urlParamsSchema } }) => {
    if (Option.isNone(urlParamsSchema)) {
      withoutQuery.push({ method, path: new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}/?$`) })
    }
  }
})

/** What an endpoint with parameters of its own does not know, its schema refuses. */
export const KnownQueryLive = Layer.succeed(
  KnownQuery,
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const [path = "", query = ""] = request.url.split(/\?([^]*)/)
    const [name] = new URLSearchParams(query).keys()
    if (name === undefined) return
    if (withoutQuery.some((address) => address.method === request.method && address.path.test(path))) {
      const message = `${placeOf([name])} is not a known query parameter. This endpoint takes none`
      return yield* new ApiError({ status: 400, message })
    }
  })
)
