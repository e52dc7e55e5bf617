import { FileSystem, HttpApp, HttpMiddleware, HttpServerRequest } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect, Option } from "effect"
import { CurrentCaller } from "../../services/access/Caller.ts"
import { isKnown } from "../../services/access/rights.ts"
import { Sessions } from "../../services/sessions/Sessions.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { PrivateToken } from "../../services/state/PrivateToken.ts"
import { errorResponse } from "../errors.ts"
import { isLoopback } from "../loopback.ts"
import { sessionIdIn } from "../session/cookie.ts"
import { ownerNow } from "../session/holders.ts"
import { maxBodyBytes, maxUnknownBodyBytes } from "./bodyLimits.ts"
import { withBoundedJson } from "./jsonBody.ts"
import { type GuardPolicy, judge } from "./judge.ts"
import { withBoundedText } from "./requestBody.ts"
import { preflightResponse, withSecurityHeaders } from "./responseHeaders.ts"

const refused = (refusal: { readonly status: number; readonly message: string }) =>
  withSecurityHeaders(errorResponse(refusal), Option.none())

/** Whose session a cookie is of. */
const sessionOf = (cookie: string | undefined, policy: GuardPolicy, { find }: Sessions["Type"]) =>
  Option.match(sessionIdIn(cookie), {
    onNone: () => Effect.succeedNone,
    onSome: (id) => Effect.map(find(id), Option.flatMap((session) => ownerNow(session, policy)))
  })

/**
 * Stands before every route and every method. A web page that a person happens to visit can send requests to loopback
 * addresses; only what the person's own programs send gets through.
 */
export const guard = HttpMiddleware.make((app) =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const policy = { ...(yield* (yield* Settings).guard), privateToken: yield* PrivateToken }
    const source = NodeHttpServerRequest.toIncomingMessage(request)
    const session = yield* Effect.flatMap(Sessions, (sessions) => sessionOf(source.headers.cookie, policy, sessions))
    const verdict = judge({
      method: request.method,
      target: source.url ?? "",
      fromHere: isLoopback(source.socket.localAddress ?? ""),
      rawHeaders: source.rawHeaders,
      session
    }, policy)
    if (!verdict.allowed) return refused(verdict)
    if (verdict.preflight) return withSecurityHeaders(preflightResponse, verdict.origin)
    // An answer goes out before a middleware sees it: its headers have to be set on the way.
    yield* HttpApp.appendPreResponseHandler((_, response) =>
      Effect.succeed(withSecurityHeaders(response, verdict.origin))
    )
    const known = Effect.provideService(app, CurrentCaller, verdict.caller)
    const maxBytes = isKnown(verdict.caller.role) ? maxBodyBytes : maxUnknownBodyBytes
    const routed = request.modify({ url: verdict.target.url })
    const read = withBoundedJson(yield* withBoundedText(routed, maxBytes))
    return yield* Effect.provideService(known, HttpServerRequest.HttpServerRequest, read)
  }).pipe(HttpServerRequest.withMaxBodySize(Option.some(FileSystem.Size(maxBodyBytes))))
)
