import type { HttpClientRequest } from "@effect/platform"
import { HttpApiBuilder, HttpApp, HttpServer } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Effect, Exit, Fiber, Layer, Option, type Runtime, Schedule, Scope } from "effect"
import { listRunEndpoints } from "../../http/api/annotations.ts"
import { BerthApi } from "../../http/api/BerthApi.ts"
import { findEndpoint } from "../../http/requestTarget.ts"
import { EndpointsLive } from "../../http/server.ts"
import { keepRecoveringSharedRuns, recoverRuns } from "../../pipelines/runs.ts"
import { makeOnce } from "../../services/limits.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { servicesLive } from "../../services/ServicesLive.ts"
import { type SettingsLocation, toSettingsLocation } from "../../services/settings/confirm.ts"
import { findCommand, findStoreService, type LiveService } from "../../services/state/discovery.ts"
import { Berth, type Door } from "../Berth.ts"
import { origin, overHandlers } from "./overHandlers.ts"

const startingEndpoints = listRunEndpoints(BerthApi)

/** True if a request starts a run, which may have to wait for an unfinished one of another process. */
const startsRun = ({ method, url }: HttpClientRequest.HttpClientRequest) =>
  Option.exists(findEndpoint({ method, url: url.slice(origin.length) }), (endpoint) => startingEndpoints.has(endpoint))

/** True if a request concerns runs: unfinished ones are recovered before it. */
const isAboutRuns = (request: HttpClientRequest.HttpClientRequest) =>
  startsRun(request) || request.url.startsWith(`${origin}/api/runs`)

// Longest wait for another process to release the store, which it does when its run has ended.
const holderTimeout = "2 hours"

/** Serves other commands the runs of this process if its store is a file that only one process can open. */
const answerOthersAboutRuns = Effect.gen(function*() {
  if (yield* (yield* Runs).isShared) return
  const { answerOthers } = yield* Effect.promise(() => import("./answerOthers.ts"))
  yield* Effect.scoped(Effect.zipRight(answerOthers, Effect.never))
})

const holderPause = "500 millis"

/** Longest wait of a request that only reads for a store that another process holds. */
const readTimeout = "3 seconds"

/** Client of another process that a search finds; none for this process. */
const connectTo = <R>(search: Effect.Effect<Option.Option<LiveService>, never, R>, door: Door) =>
  Effect.gen(function*() {
    const found = yield* search
    if (Option.isNone(found) || found.value.pid === process.pid) return Option.none()
    const { makeServiceClient: clientOf } = yield* Effect.promise(() => import("./overHttp.ts"))
    const { address, token } = found.value
    return Option.some(yield* clientOf({ url: address, token, door }))
  })

/** Finds the service or the command that holds the store of runs and serves its runs. */
const findHolder = (settingsFile: string) =>
  Effect.flatMap(
    findStoreService(settingsFile),
    (service) => Option.isSome(service) ? Effect.succeed(service) : findCommand(settingsFile)
  )

/**
 * The whole service in this process, without a socket: same endpoints, same settings file, same store of runs. Closing
 * the scope ends its runs, with the grace period of a service's shutdown.
 */
export const inProcess = (
  settings: SettingsLocation | string,
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
      // A fiber that is forked in an uninterruptible region would outlive the command.
      const forkInScope = <A, E>(work: Effect.Effect<A, E, Runtime.Runtime.Context<typeof runtime>>) =>
        Effect.forkIn(Effect.interruptible(Effect.provide(work, runtime)), scope)
      const recovering = yield* makeOnce(forkInScope(recoverRuns))
      // Waits while another process holds the store. Nothing has been started if the caller gives up waiting.
      const awaitRecovered = Effect.flatMap(recovering, Fiber.await).pipe(
        Effect.flatMap((exit) => Exit.isInterrupted(exit) ? Effect.succeed(false) : exit),
        Effect.interruptible
      )
      const abandonRecovery = Effect.flatMap(recovering, Fiber.interruptFork)
      const keepRecovering = yield* Effect.once(forkInScope(keepRecoveringSharedRuns))
      const answerOthers = yield* Effect.once(forkInScope(Effect.ignoreLogged(answerOthersAboutRuns)))
      const { file, text } = toSettingsLocation(settings)
      // The store beside settings of a variable is this process's own.
      const connectFrom = (search: ReturnType<typeof findHolder>) =>
        text === undefined
          ? Effect.interruptible(Effect.provide(Scope.extend(connectTo(search, door), scope), runtime))
          : Effect.succeedNone
      const holder = connectFrom(findHolder(file))
      const storeService = connectFrom(findStoreService(file))
      // Interruptible also where its caller is not: a race waits for its loser.
      const awaitFound = (search: typeof holder) =>
        Effect.retry(Effect.flatten(search), Schedule.spaced(holderPause)).pipe(
          Effect.orDie,
          Effect.asSome,
          Effect.interruptible
        )
      const { isHere } = yield* Effect.provide(Runs, runtime)
      return yield* overHandlers(handle, {
        door,
        // Runs that this process starts or has recovered end with it.
        outlives: (run) => run === undefined ? Effect.succeed(false) : Effect.negate(isHere(run)),
        elsewhere: (request) =>
          Effect.gen(function*() {
            if (startsRun(request)) {
              yield* keepRecovering
              const recovered = Effect.flatMap(
                awaitRecovered,
                (is) => is ? Effect.as(answerOthers, Option.none()) : storeService
              )
              // A service may say only now that it holds the store, and then starts the run.
              return yield* Effect.raceFirst(
                recovered,
                Effect.zipLeft(awaitFound(storeService), abandonRecovery)
              )
            }
            if (!isAboutRuns(request)) return Option.none()
            // Opens the store only if no other process answers: waiting for the store logs a warning that names the
            // holder. Then the store itself says who holds it.
            const look = Effect.flatMap(holder, (found) =>
              Option.isSome(found)
                ? Effect.succeed(found)
                : Effect.raceFirst(Effect.as(awaitRecovered, Option.none()), awaitFound(holder)))
            return yield* Effect.timeoutTo(look, {
              duration: readTimeout,
              onSuccess: (found) => found,
              onTimeout: () => Option.none()
            })
          })
      })
    })
  )
