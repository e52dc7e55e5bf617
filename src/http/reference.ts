import { HttpApi, HttpApiBuilder } from "@effect/platform"
import { Effect, Layer } from "effect"

const path = "/reference"

// The page's script is larger than the rest of the service, so it is read when somebody first asks for the page.
const page = (api: HttpApi.Api["Type"]) =>
  Effect.gen(function*() {
    const { layer } = yield* Effect.promise(() => import("@effect/platform/HttpApiScalar"))
    const routes = layer({ path, scalar: { withDefaultFonts: false } }).pipe(
      Layer.provideMerge(HttpApiBuilder.Router.Live),
      Layer.provide(Layer.succeed(HttpApi.Api, api))
    )
    return Effect.orDie(yield* Effect.provide(HttpApiBuilder.Router.router, routes))
  })

/** The interactive reference of the API, at `/reference`. */
export const Reference = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function*() {
    const api = yield* HttpApi.Api
    yield* router.get(path, Effect.flatten(yield* Effect.cached(page(api))))
  })
)
