import { HttpApi, HttpApiBuilder, HttpServerResponse, OpenApi } from "@effect/platform"
import { Effect, Layer } from "effect"
import { documentFailures, documentSecurity } from "./api/annotations/documented.ts"
import { collectFailures } from "./api/annotations/failures.ts"

/** API with the context that its description requires. */
type Described = HttpApi.Api["Type"]

/** Description of the API for a service that requires a token. */
export const withToken = ({ api, context }: Described): Described => ({
  api: api.annotate(OpenApi.Transform, (spec) => documentSecurity(documentFailures(collectFailures(api))(spec))),
  context
})

/** The description of the API. */
export const buildSpecResponse = ({ api }: Described): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.unsafeJson(OpenApi.fromApi(api))

/** Interactive reference of the API. Its script is larger than the rest of the service, so it is loaded only here. */
export const buildReferencePage = (described: Described) =>
  Effect.gen(function*() {
    const { layer } = yield* Effect.promise(() => import("@effect/platform/HttpApiScalar"))
    const routes = layer({ path: "/reference", scalar: { withDefaultFonts: false } }).pipe(
      Layer.provideMerge(HttpApiBuilder.Router.Live),
      Layer.provide(Layer.succeed(HttpApi.Api, described))
    )
    return Effect.orDie(yield* Effect.provide(HttpApiBuilder.Router.router, routes))
  })
