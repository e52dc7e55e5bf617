import { HttpApiBuilder, HttpApp, type HttpClientRequest, HttpServer } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Effect, Fiber, Layer } from "effect"
import { BerthApi } from "../../http/api/BerthApi.ts"
import { runEndpoints } from "../../http/api/startsRun.ts"
import { EndpointsLive } from "../../http/server.ts"
import { keepSharedRunsTakenUp, takeUpRuns } from "../../pipelines/runs/takeUpRuns.ts"
import { madeOnce } from "../../services/fibers/madeOnce.ts"
import { servicesLive } from "../../services/ServicesLive.ts"
import type { SettingsPlace } from "../../services/settings/settingsPlace.ts"
import { Berth, type Door } from "../Berth.ts"
import { origin, overHandlers } from "./overHandlers.ts"

const startingEndpoints = runEndpoints(BerthApi)

/** Whether a request starts a run, which may have to wait for one that another process has left. */
const startsRun = ({ method, url }: HttpClientRequest.HttpClientRequest) =>
  startingEndpoints.has(`${method} ${url.slice(origin.length)}`)

/** Whether a request has to do with runs: what an earlier process left is taken up before it. */
const isAboutRuns = (request: HttpClientRequest.HttpClientRequest) =>
  startsRun(request) || request.url.startsWith(`${origin}/api/runs`)

// Another process has the store until its run has ended, which is to take no longer than this.
const holderTimeout = "2 hours"

/**
 * The whole service in this process, without a socket: the same endpoints, with the same settings file and the same
 * store of runs. Its runs end with the scope, which gives them the time that a service's shutdown gives them.
 */
export const inProcess = (
  settings: SettingsPlace | string,
  { door = "script" }: { readonly door?: Door } = {}
): Layer.Layer<Berth> =>
  Layer.scoped(
    Berth,
    Effect.gen(function*() {
      const { Middleware, Router } = HttpApiBuilder
      const runtime = yield* Layer.toRuntime(
        Layer.mergeAll(EndpointsLive, HttpServer.layerContext, Router.Live, Middleware.layer).pipe(
          Layer.provideMerge(Layer.provideMerge(servicesLive(settings, holderTimeout), NodeContext.layer))
        )
      )
      const handle = HttpApp.toWebHandlerRuntime(runtime)(yield* Effect.provide(HttpApiBuilder.httpApp, runtime))
      const scope = yield* Effect.scope
      const takingUp = yield* madeOnce(Effect.forkIn(Effect.provide(takeUpRuns, runtime), scope))
      // It may take as long as another process has the store. Who stops waiting then has started nothing.
      const taken = Effect.interruptible(Effect.flatMap(takingUp, Fiber.join))
      const keeping = yield* Effect.once(Effect.forkIn(Effect.provide(keepSharedRunsTakenUp, runtime), scope))
      return yield* overHandlers(handle, {
        door,
        outlives: false,
        before: (request) =>
          Effect.zipRight(
            startsRun(request) ? keeping : Effect.void,
            isAboutRuns(request) ? taken : Effect.void
          )
      })
    })
  )
