import {
  FetchHttpClient,
  type HttpApi,
  HttpApiBuilder,
  HttpApp,
  type HttpRouter,
  HttpServerRequest,
  HttpServerResponse
} from "@effect/platform"
import { Context, Effect, Layer, Scope } from "effect"
import { Berth } from "../client/Berth.ts"
import { makeHandlerFetch, overHandlers } from "../client/node/overHandlers.ts"
import { ApiError, orApiError } from "../http/api/annotations.ts"
import { agentMethods } from "../http/requestTarget.ts"
import { EndpointsLive } from "../http/server.ts"
import { tokenRequired } from "../schema/session.ts"
import { formatList } from "../schema/words.ts"
import { type Caller, CurrentCaller, isKnown, mayChange } from "../services/access/Caller.ts"
import { makeOnce } from "../services/limits.ts"
import { Settings } from "../services/settings/Settings.ts"
import { makeRunAgentRequest, type OfferFor } from "./requests.ts"

const disabled = new ApiError({
  status: 404,
  message: "Tools for agents are turned off here: the setting mcp.enabled turns them on"
})

const notAllowed = (method: string) =>
  new ApiError({
    status: 405,
    message: `${method} is not allowed on /mcp: use ${formatList(agentMethods, "or")}`,
    headers: { allow: agentMethods.join(", ") }
  })

/** Answers agents through the endpoints of this process, each request with the identity of its caller. */
const answering = (loadOffer: Effect.Effect<OfferFor>) =>
  Effect.gen(function*() {
    const runtime = yield* Effect.runtime<
      HttpApi.Api | HttpApiBuilder.Router | HttpApiBuilder.Middleware | HttpRouter.HttpRouter.DefaultServices
    >()
    const scope = yield* Effect.scope
    const runAgentRequest = yield* makeRunAgentRequest
    const begin = Effect.gen(function*() {
      const handle = HttpApp.toWebHandlerRuntime(runtime)(yield* Effect.provide(HttpApiBuilder.httpApp, runtime))
      const berth = yield* overHandlers(handle, {
        door: "mcp",
        outlives: () => Effect.succeed(true),
        elsewhere: () => Effect.succeedNone
      })
      const { makeAgentSessions: agentSessions } = yield* Effect.promise(() => import("./makeAgentSessions.ts"))
      return yield* Scope.extend(
        agentSessions(yield* loadOffer, (caller: Caller) => {
          const asCaller = makeHandlerFetch((request) => handle(request, Context.make(CurrentCaller, caller)))
          return runAgentRequest((effect) =>
            effect.pipe(Effect.provideService(FetchHttpClient.Fetch, asCaller), Effect.provideService(Berth, berth))
          )
        }),
        scope
      )
    })
    return yield* makeOnce(begin)
  })

/** Serves agents at `/mcp`, behind the guard. The implementation is loaded on the first request. */
export const makeAgentLayer = (loadOffer: Effect.Effect<OfferFor>) =>
  Layer.scopedDiscard(Effect.gen(function*() {
    const settings = yield* Settings
    const router = yield* HttpApiBuilder.Router
    const begun = yield* answering(loadOffer)
    yield* router.all(
      "/mcp",
      Effect.gen(function*() {
        const asked = yield* HttpServerRequest.HttpServerRequest
        const caller = yield* CurrentCaller
        if (!isKnown(caller.role)) return yield* new ApiError({ status: 401, message: tokenRequired })
        if (!(yield* orApiError(settings.get("mcp.enabled")))) return yield* disabled
        if (!agentMethods.includes(asked.method)) return yield* notAllowed(asked.method)
        const readOnly = !mayChange(caller.role) || (yield* orApiError(settings.get("mcp.readOnly")))
        const body = asked.method === "POST" ? yield* asked.json : undefined
        const left = new AbortController()
        const request = new Request("http://berth.invalid/mcp", {
          method: asked.method,
          headers: { ...asked.headers },
          signal: left.signal
        })
        const answer = yield* begun
        return HttpServerResponse.fromWeb(
          yield* Effect.onInterrupt(answer({ request, body, caller, readOnly }), () => Effect.sync(() => left.abort()))
        )
      })
    )
  })).pipe(
    Layer.provide([HttpApiBuilder.Router.Live, HttpApiBuilder.Middleware.layer]),
    Layer.provide(EndpointsLive)
  )

/** Berth's tools for agents at `/mcp`. */
export const AgentTools = makeAgentLayer(
  Effect.promise(async () => (await import("./server.ts")).buildOffer)
)
