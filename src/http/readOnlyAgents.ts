import { HttpApiBuilder, type HttpApp, HttpServerRequest } from "@effect/platform"
import { Effect } from "effect"
import { CurrentCaller, limitToReading } from "../services/access/Caller.ts"
import { Settings } from "../services/settings/Settings.ts"
import { type ApiError, orApiError } from "./api/annotations/ApiError.ts"
import { BerthApi } from "./api/BerthApi.ts"

/**
 * Limits agents to the role viewer if `mcp.readOnly` is set, both over `/mcp` and through a process that calls the
 * endpoints.
 */
export const ReadOnlyAgentsLive = HttpApiBuilder.middleware(
  BerthApi,
  Effect.map(Settings, (settings) => (app: HttpApp.Default): HttpApp.Default<ApiError> =>
    Effect.gen(function*() {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const caller = yield* CurrentCaller
      if (headers["berth-door"] !== "mcp" || !(yield* orApiError(settings.get("mcp.readOnly")))) return yield* app
      return yield* Effect.provideService(app, CurrentCaller, limitToReading(caller))
    }))
)
