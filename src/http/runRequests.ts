import {
  HttpApiBuilder,
  HttpApp,
  type HttpRouter,
  HttpServerError,
  HttpServerRequest,
  HttpServerResponse
} from "@effect/platform"
import { Deferred, Effect, Fiber, HashSet, Option, Ref } from "effect"
import { getRun, listRuns, watchRun } from "../pipelines/runs.ts"
import { type Run, RunInterrupted } from "../schema/runs.ts"
import { CurrentCaller, mayChange } from "../services/access/Caller.ts"
import { Locks } from "../services/locks/Locks.ts"
import { RunRequest, Runs } from "../services/runs/Runs.ts"
import { digestIdempotency, type Idempotency, IdempotencyKeyReused, type KeyedRun } from "../services/runs/store.ts"
import { ApiError, listRunEndpoints, orApiError } from "./api/annotations.ts"
import { BerthApi } from "./api/BerthApi.ts"
import { findEndpoint } from "./requestTarget.ts"
import { EventStreams, loadOnUse, orMarkdown, requester } from "./wire.ts"

const longestKey = 200

/** Reads the header `Idempotency-Key`, with the digest of the request that it is for. */
const readIdempotencyKey = (request: HttpServerRequest.HttpServerRequest, endpoint: string, caller: string) =>
  Effect.gen(function*() {
    const key = request.headers["idempotency-key"]
    if (key === undefined) return Option.none<Idempotency>()
    if (key === "" || key.length > longestKey) {
      return yield* new ApiError({ status: 400, message: `Idempotency-Key must have 1 to ${longestKey} characters` })
    }
    const body = yield* Effect.orElseSucceed(request.text, () => "")
    return Option.some(digestIdempotency(caller, key, `${endpoint}\n${body}`))
  })

const startingEndpoints = listRunEndpoints(BerthApi)

/** True if the caller prefers the run at once over its result later (`Prefer: respond-async`, RFC 7240). */
const prefersAsync = (prefer: string | undefined): boolean =>
  (prefer ?? "").split(",").some((preference) => preference.split(";")[0]?.trim().toLowerCase() === "respond-async")

const accepted = (run: Run) =>
  HttpServerResponse.unsafeJson(run, {
    status: 202,
    headers: { location: `/api/runs/${run.id}`, "preference-applied": "respond-async" }
  })

/** Rebuilds the answer of a run's endpoint from the stored run. */
const answerOf = ({ error, kind, result, state }: Run) => {
  if (state === "succeeded" || result !== null) return Effect.succeed(HttpServerResponse.unsafeJson(result))
  const { error: message, status } = error ??
    { status: 503, error: new RunInterrupted({ kind, step: null, resumes: true }).message }
  return new ApiError({ status, message })
}

/**
 * Common behaviour of endpoints that start a run: names the run in the response, responds at once for `respond-async`,
 * and returns the same run for a repeated idempotency key. A pull is cancelled when its caller disconnects.
 */
export const RunRequestsLive = HttpApiBuilder.middleware(
  BerthApi,
  Effect.gen(function*() {
    const runs = yield* Runs
    const locks = yield* Locks
    return (app: HttpApp.Default): HttpApp.Default<ApiError, HttpRouter.HttpRouter.Provided> =>
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const { name, role } = yield* CurrentCaller
        // The endpoint itself refuses callers that may not start runs. They must not receive an earlier answer either.
        const endpoint = Option.filter(findEndpoint(request), (endpoint) => startingEndpoints.has(endpoint))
        if (Option.isNone(endpoint) || !mayChange(role)) return yield* app
        const isAsync = prefersAsync(request.headers["prefer"])
        const idempotency = yield* readIdempotencyKey(request, endpoint.value, name)
        const answered = yield* Ref.make(Option.none<string>())
        // Outer middleware renders failures, so the header is added just before the response is sent.
        yield* HttpApp.appendPreResponseHandler((_, response) =>
          Effect.map(
            Ref.get(answered),
            Option.match({
              onNone: () => response,
              onSome: (id) => HttpServerResponse.setHeader(response, "berth-run", id)
            })
          )
        )
        const isThis = (run: Run) => Ref.set(answered, Option.some(run.id))

        /** Answers with the run that an earlier request with this key started. */
        const again = ({ digest: first, run }: KeyedRun, { digest }: Idempotency) =>
          Effect.gen(function*() {
            if (first !== digest) return yield* orApiError(new IdempotencyKeyReused({ runId: run.id }))
            yield* isThis(run)
            return isAsync
              ? Effect.map(orApiError(runs.get(run.id)), accepted)
              : Effect.flatMap(orApiError(runs.await(run.id)), answerOf)
          })

        /** Starts the run; the result waits for its answer. */
        const begin = Effect.gen(function*() {
          const started = yield* Deferred.make<Run>()
          const used = yield* Deferred.make<KeyedRun>()
          const handler = yield* Effect.fork(Effect.provideService(app, RunRequest, {
            requestedBy: yield* requester,
            idempotency,
            started: (run) => Effect.zipRight(isThis(run), Effect.asVoid(Deferred.succeed(started, run))),
            isUsed: (by) => Effect.asVoid(Deferred.succeed(used, by))
          }))
          // `handler` completes without a run if the request is refused.
          const first = Effect.raceFirst(Deferred.await(started), Deferred.await(used))
          yield* Effect.raceFirst(first, Fiber.await(handler))
          if (Option.isSome(idempotency) && (yield* Deferred.isDone(used))) {
            yield* Fiber.interrupt(handler)
            return yield* again(yield* Deferred.await(used), idempotency.value)
          }
          const run = yield* Deferred.poll(started)
          if (Option.isNone(run)) return Fiber.join(handler)
          const { id, kind } = yield* run.value
          return isAsync
            ? Effect.zipRight(Fiber.interrupt(handler), Effect.map(run.value, accepted))
            // Its files are for the caller. One that sent a key comes back for the answer.
            : kind === "pull" && Option.isNone(idempotency)
            ? Effect.onInterrupt(Fiber.join(handler), (by) =>
              HashSet.has(by, HttpServerError.clientAbortFiberId) ? Effect.ignore(runs.cancel(id)) : Effect.void)
            : Fiber.join(handler)
        })

        const once = (idempotency: Idempotency) =>
          Effect.flatMap(
            orApiError(runs.findByKey(idempotency.key)),
            Option.match({
              onNone: () =>
                begin,
              onSome: (known) => again(known, idempotency)
            })
          )

        // Middleware is uninterruptible by default; waits here must be interruptible like in a route.
        return yield* Effect.interruptible(Effect.flatten(Option.match(idempotency, {
          onNone: () => begin,
          onSome: (idempotency) =>
            orApiError(locks.withLock({ rank: 0, name: `idempotency ${idempotency.key}` })(once(idempotency)))
        })))
      })
  })
)

/** Decodes `last-event-id`; other values restart from the first event. */
const eventId = (text: string | undefined): Option.Option<number> =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Option.some(Number(text)) : Option.none()

const loadReports = () => import("../schema/deployReport.ts")

export const RunsHandlers = HttpApiBuilder.group(BerthApi, "runs", (handlers) =>
  Effect.gen(function*() {
    const runs = yield* Runs
    const streams = yield* EventStreams
    return handlers
      .handle("listRuns", ({ urlParams }) => orApiError(listRuns(urlParams)))
      .handle("getRun", ({ path }) =>
        orApiError(orMarkdown(getRun(path.id), (run) =>
          loadOnUse(loadReports, ({ formatRunReport }) =>
            Effect.succeed(formatRunReport(run))))))
      .handle("cancelRun", ({ path }) =>
        orApiError(runs.cancel(path.id)))
      .handleRaw("watchRun", ({ headers, path }) =>
        orApiError(Effect.gen(function*() {
          const respond = yield* streams.open
          return respond(yield* watchRun(path.id, eventId(headers["last-event-id"])))
        })))
  }))
