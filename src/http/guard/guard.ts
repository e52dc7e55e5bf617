import { FileSystem, HttpApp, HttpMiddleware, HttpServerRequest } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect, Option } from "effect"
import { Settings } from "../../services/settings/Settings.ts"
import { ApiError } from "../api/ApiError.ts"
import { errorResponse } from "../errors.ts"
import { isLoopback } from "../loopback.ts"
import { judge, maxBodyBytes, tooLong } from "./judge.ts"
import { preflightResponse, withSecurityHeaders } from "./responseHeaders.ts"
import { readUnannounced, withText } from "./unannounced.ts"

const refused = (refusal: { readonly status: number; readonly message: string }) =>
  withSecurityHeaders(errorResponse(new ApiError(refusal)), Option.none())

/**
 * Stands before every route and every method. A web page that a person happens to visit can send requests to loopback
 * addresses; only what the person's own programs send gets through.
 */
export const guard = HttpMiddleware.make((app) =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const policy = yield* (yield* Settings).guard
    const source = NodeHttpServerRequest.toIncomingMessage(request)
    const verdict = judge({
      method: request.method,
      target: source.url ?? "",
      fromHere: isLoopback(source.socket.localAddress ?? ""),
      rawHeaders: source.rawHeaders
    }, policy)
    if (!verdict.allowed) return refused(verdict)
    if (verdict.preflight) return withSecurityHeaders(preflightResponse, verdict.origin)
    // An answer goes out before a middleware sees it: its headers have to be set on the way.
    yield* HttpApp.appendPreResponseHandler((_, response) =>
      Effect.succeed(withSecurityHeaders(response, verdict.origin))
    )
    if (source.headers["transfer-encoding"] === undefined) return yield* app
    const text = yield* readUnannounced(source, maxBodyBytes)
    return yield* Option.match(text, {
      onNone: () => Effect.succeed(refused(tooLong)),
      onSome: (text) => Effect.provideService(app, HttpServerRequest.HttpServerRequest, withText(request, text))
    })
  }).pipe(HttpServerRequest.withMaxBodySize(Option.some(FileSystem.Size(maxBodyBytes))))
)
