import { HttpApiBuilder, HttpApp, type HttpClientRequest, HttpServer } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Effect, Fiber, Layer, Option, Schedule, Scope } from "effect"
import type { Runtime } from "effect"
import { BerthApi } from "../../http/api/BerthApi.ts"
import { runEndpoints } from "../../http/api/startsRun.ts"
import { EndpointsLive } from "../../http/server.ts"
import { keepSharedRunsTakenUp, takeUpRuns } from "../../pipelines/runs/takeUpRuns.ts"
import { madeOnce } from "../../services/fibers/madeOnce.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { servicesLive } from "../../services/ServicesLive.ts"
import { placeOf, type SettingsPlace } from "../../services/settings/settingsPlace.ts"
import { findCommand } from "../../services/state/serviceFile.ts"
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

/** Answers other commands about the runs of this process, where its store is a file that no other process can open. */
const answerOthersAboutRuns = Effect.gen(function*() {
  if (yield* (yield* Runs).isShared) return
  const { answerOthers } = yield* Effect.promise(() => import("./answerOthers.ts"))
  yield* Effect.scoped(Effect.zipRight(answerOthers, Effect.never))
})

const lookPause = "500 millis"

/** The command that has the store of runs, if one does: it answers about its runs. */
const commandHolding = (settingsFile: string, door: Door) =>
  Effect.gen(function*() {
    const found = yield* findCommand(settingsFile)
    if (Option.isNone(found) || found.value.pid === process.pid) return Option.none()
    const { clientOf } = yield* Effect.promise(() => import("./overHttp.ts"))
    const { address, token } = found.value
    return Option.some(yield* clientOf({ url: address, token, door }))
  })

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
      // A fiber that is forked where nothing can be interrupted could not be either, and would outlive the command.
      const beside = <A, E>(work: Effect.Effect<A, E, Runtime.Runtime.Context<typeof runtime>>) =>
        Effect.forkIn(Effect.interruptible(Effect.provide(work, runtime)), scope)
      const takingUp = yield* madeOnce(beside(takeUpRuns))
      // It may take as long as another process has the store. A caller that stops waiting then has started nothing.
      const taken = Effect.interruptible(Effect.flatMap(takingUp, Fiber.join))
      const keeping = yield* Effect.once(beside(keepSharedRunsTakenUp))
      const answering = yield* Effect.once(beside(Effect.ignoreLogged(answerOthersAboutRuns)))
      const holder = Effect.interruptible(
        Effect.provide(Scope.extend(commandHolding(placeOf(settings).file, door), scope), runtime)
      )
      const held = Effect.repeat(holder, { until: Option.isSome, schedule: Schedule.spaced(lookPause) }).pipe(
        Effect.zipRight(holder)
      )
      return yield* overHandlers(handle, {
        door,
        outlives: false,
        elsewhere: (request) =>
          Effect.gen(function*() {
            if (startsRun(request)) {
              yield* keeping
              if (yield* taken) yield* answering
              return Option.none()
            }
            if (!isAboutRuns(request)) return Option.none()
            // The store is asked for only where no command answers: waiting for it says for whom.
            const found = yield* holder
            return Option.isSome(found) ? found : yield* Effect.raceFirst(Effect.as(taken, Option.none()), held)
          })
      })
    })
  )
