import { HttpApiBuilder, HttpApp, type HttpClientRequest, HttpServer } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Effect, Fiber, Layer } from "effect"
import { EndpointsLive } from "../../http/server.ts"
import { takeUpRuns } from "../../pipelines/runs/takeUpRuns.ts"
import { servicesLive } from "../../services/ServicesLive.ts"
import { Berth, type Door } from "../Berth.ts"
import { origin, overHandlers } from "./overHandlers.ts"

/** Whether a request has to do with runs: what an earlier process left is taken up before it. */
const isAboutRuns = ({ headers, url }: HttpClientRequest.HttpClientRequest) =>
  "idempotency-key" in headers || url.startsWith(`${origin}/api/runs`)

// As long as any run takes.
const holderTimeout = "2 hours"

/**
 * The whole service in this process, without a socket: the same endpoints, with the same settings file and the same
 * store of runs. Its runs end with the scope, which gives them the time that a service's shutdown gives them.
 */
export const inProcess = (
  settingsFile: string,
  { door = "script" }: { readonly door?: Door } = {}
): Layer.Layer<Berth> =>
  Layer.scoped(
    Berth,
    Effect.gen(function*() {
      const { Middleware, Router } = HttpApiBuilder
      const runtime = yield* Layer.toRuntime(
        Layer.mergeAll(EndpointsLive, HttpServer.layerContext, Router.Live, Middleware.layer).pipe(
          Layer.provideMerge(Layer.provideMerge(servicesLive(settingsFile, holderTimeout), NodeContext.layer))
        )
      )
      const handle = HttpApp.toWebHandlerRuntime(runtime)(yield* Effect.provide(HttpApiBuilder.httpApp, runtime))
      const scope = yield* Effect.scope
      const takingUp = yield* Effect.cached(Effect.forkIn(Effect.provide(takeUpRuns, runtime), scope))
      // It may take as long as another process has the store. Who stops waiting then has started nothing.
      const taken = Effect.interruptible(Effect.flatMap(takingUp, Fiber.join))
      return yield* overHandlers(handle, {
        door,
        outlives: false,
        before: (request) => isAboutRuns(request) ? taken : Effect.void
      })
    })
  )
