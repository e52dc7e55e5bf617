import {
  FileSystem,
  type Headers,
  HttpApp,
  HttpBody,
  HttpMiddleware,
  HttpServerRequest,
  HttpServerResponse
} from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect, Option, Stream } from "effect"
import { type Caller, CurrentCaller } from "../../services/access/Caller.ts"
import { hasKeptRights, isKnown, isOpen } from "../../services/access/rights.ts"
import { Sessions } from "../../services/sessions/Sessions.ts"
import { challengeHeader, computeProof, proofHeader } from "../../services/state/discovery/serviceProof.ts"
import type { ApiError } from "../api/annotations/ApiError.ts"
import { isLoopback } from "../listen/loopback.ts"
import { readSessionId } from "../session/cookie.ts"
import { findSessionOwner } from "../session/holders.ts"
import { WrongTokens } from "../session/WrongTokens.ts"
import { buildErrorResponse } from "../wire/errors.ts"
import type { RequestTarget } from "../wire/requestTarget.ts"
import { authorizeRequest, type GuardPolicy } from "./authorizeRequest.ts"
import { maxBodyBytes, maxUnknownBodyBytes } from "./bodyLimits.ts"
import { CurrentPolicy } from "./CurrentPolicy.ts"
import { withBoundedJson } from "./jsonBody.ts"
import { withBoundedText } from "./requestBody.ts"
import { preflightResponse, withSecurityHeaders } from "./responseHeaders.ts"

/** Interval between two authorizations of the caller of a streamed answer. */
const judgedEvery = "2 seconds"

/**
 * Ends a streamed answer, as if complete, soon after its caller has lost access. A client that reconnects receives the
 * reason as a refusal.
 */
const whileAllowed = (
  response: HttpServerResponse.HttpServerResponse,
  isAllowed: Effect.Effect<boolean>
): HttpServerResponse.HttpServerResponse => {
  const { body } = response
  if (body._tag !== "Stream") return response
  const refused = Effect.repeat(Effect.delay(isAllowed, judgedEvery), { while: (allowed) => allowed })
  return HttpServerResponse.setBody(
    response,
    HttpBody.stream(Stream.interruptWhen(body.stream, refused), body.contentType, body.contentLength)
  )
}

const refused = (refusal: Pick<ApiError, "headers" | "message" | "status">) =>
  withSecurityHeaders(buildErrorResponse(refusal), Option.none())

/** Finds the caller of the session in a request's cookie. */
const sessionOf = (headers: Headers.Headers, policy: GuardPolicy, find: Sessions["Type"]["find"]) =>
  Option.match(readSessionId(headers), {
    onNone: () => Effect.succeedNone,
    onSome: (id) => Effect.map(find(id), Option.flatMap((session) => findSessionOwner(session, policy)))
  })

/** Adds a proof to every answer that this service has the private token, for programs of the same user. */
const proveOwn = (headers: Headers.Headers, { privateToken }: GuardPolicy) => {
  const challenge = headers[challengeHeader]
  const proof = challenge === undefined
    ? undefined
    : Option.getOrUndefined(Option.map(privateToken, (token) => computeProof(token, challenge)))
  return proof === undefined
    ? Effect.void
    : HttpApp.appendPreResponseHandler((_, response) =>
      Effect.succeed(HttpServerResponse.setHeader(response, proofHeader, proof))
    )
}

/** Maximum body size for a request: smaller on endpoints that anonymous callers reach. */
const bodyLimitFor = ({ destination }: RequestTarget, { role }: Caller) =>
  isKnown(role) && !(destination._tag === "Endpoint" && isOpen(destination.access)) ? maxBodyBytes : maxUnknownBodyBytes

/**
 * Guards every route and method. A web page that the user visits can send requests to loopback
 * addresses; only requests of the user's own programs pass.
 */
export const guard = HttpMiddleware.make((app) =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const policy = yield* CurrentPolicy
    const sessions = yield* Sessions
    const source = NodeHttpServerRequest.toIncomingMessage(request)
    const judged = (policy: GuardPolicy, find: Sessions["Type"]["find"]) =>
      Effect.map(sessionOf(request.headers, policy, find), (session) =>
        authorizeRequest({
          method: request.method,
          target: source.url ?? "",
          fromHere: isLoopback(source.socket.localAddress ?? ""),
          rawHeaders: source.rawHeaders,
          session
        }, policy))
    const now = yield* policy.now
    yield* proveOwn(request.headers, now)
    const verdict = yield* judged(now, sessions.find)
    if (!verdict.allowed) {
      const { throttle } = yield* WrongTokens
      return yield* Effect.match(verdict.hasWrongToken ? throttle(request.remoteAddress) : Effect.void, {
        onFailure: refused,
        onSuccess: () => refused(verdict)
      })
    }
    if (verdict.preflight) return withSecurityHeaders(preflightResponse, verdict.origin)
    const isAllowed = Effect.map(
      Effect.flatMap(policy.recent, (recent) => judged(recent, sessions.peek)),
      (now) => now.allowed && hasKeptRights(verdict.caller, now.caller)
    )
    // A response is sent before middleware sees it, so its headers are set in a pre-response handler.
    yield* HttpApp.appendPreResponseHandler((_, response) =>
      Effect.succeed(whileAllowed(withSecurityHeaders(response, verdict.origin), isAllowed))
    )
    const known = Effect.provideService(app, CurrentCaller, verdict.caller)
    const routed = request.modify({ url: verdict.target.url })
    const read = withBoundedJson(yield* withBoundedText(routed, bodyLimitFor(verdict.target, verdict.caller)))
    return yield* Effect.provideService(known, HttpServerRequest.HttpServerRequest, read)
  }).pipe(HttpServerRequest.withMaxBodySize(Option.some(FileSystem.Size(maxBodyBytes))))
)
