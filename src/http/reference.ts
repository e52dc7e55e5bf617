import { HttpApi, HttpApiBuilder, HttpServerResponse, OpenApi } from "@effect/platform"
import { Effect, Layer } from "effect"
import { documentFailures, documentSecurity } from "./api/annotations/documented.ts"
import { collectFailures } from "./api/annotations/failures.ts"

/** An API with what it needs to be described. */
type Described = HttpApi.Api["Type"]

/** The API as a service that requires a token describes it. */
export const withToken = ({ api, context }: Described): Described => ({
  api: api.annotate(OpenApi.Transform, (spec) => documentSecurity(documentFailures(collectFailures(api))(spec))),
  context
})

/** The description of the API. */
export const buildSpecResponse = ({ api }: Described): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.unsafeJson(OpenApi.fromApi(api))

/** The interactive reference of the API. Its script is larger than the rest of the service: it is read only here. */
export const buildReferencePage = (described: Described) =>
  Effect.gen(function*() {
    const { layer } = yield* Effect.promise(() => import("@effect/platform/HttpApiScalar"))
    const routes = layer({ path: "/reference", scalar: { withDefaultFonts: false } }).pipe(
      Layer.provideMerge(HttpApiBuilder.Router.Live),
      Layer.provide(Layer.succeed(HttpApi.Api, described))
    )
    return Effect.orDie(yield* Effect.provide(HttpApiBuilder.Router.router, routes))
  })
