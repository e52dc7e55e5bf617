import { HttpRouter, HttpServerRequest } from "@effect/platform"
import { Effect, Layer } from "effect"
import { quoteInput } from "../schema/words/quoted.ts"
import { CurrentCaller } from "../services/access/Caller.ts"
import { isKnown, mayCall } from "../services/access/rights.ts"
import { Allowed, collectRequiredAccess, resolveRequiredAccess } from "./api/annotations/access.ts"
import { ApiError } from "./api/annotations/ApiError.ts"
import { BerthApi } from "./api/BerthApi.ts"
import { tokenRequired } from "./guard/authorizeRequest.ts"

const access = collectRequiredAccess(BerthApi)

/** Checks the caller's role against the matched route, also for requests that bypassed the guard. */
export const AllowedLive = Layer.succeed(
  Allowed,
  Effect.gen(function*() {
    const { limitedBy, name, role } = yield* CurrentCaller
    const { route } = yield* HttpRouter.RouteContext
    const { url } = yield* HttpServerRequest.HttpServerRequest
    const required = resolveRequiredAccess(access, `${route.method} ${route.path}`)
    if (mayCall(role, required, { hasQuery: url.includes("?") })) return
    if (!isKnown(role)) return yield* new ApiError({ status: 401, message: tokenRequired })
    const message = limitedBy === undefined
      ? `${route.method} ${route.path} needs the role operator, and the token ${quoteInput(name)} has the role ` +
        `${role}. Nothing was changed: use an operator's token`
      : `${route.method} ${route.path} changes something, and agents may only read here: the setting ${limitedBy} ` +
        "is on. Nothing was changed"
    return yield* new ApiError({ status: 403, message })
  })
)
