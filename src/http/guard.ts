import {
  FileSystem,
  type Headers,
  HttpApiBuilder,
  HttpApp,
  HttpBody,
  HttpMiddleware,
  HttpRouter,
  HttpServerRequest,
  HttpServerResponse
} from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Cause, Context, Effect, Either, Layer, Option, Redacted, Stream } from "effect"
import { createHash, timingSafeEqual } from "node:crypto"
import { tokenRequired, tokenUnknown } from "../schema/session.ts"
import { type NamedToken, nameOfToken } from "../schema/settings.ts"
import { quoteInput } from "../schema/words.ts"
import {
  anonymousCaller,
  type Caller,
  type CallerRole,
  CurrentCaller,
  hasKeptRights,
  isKnown,
  type KnownCaller,
  limitToReading,
  makeLocalCaller,
  mayChange
} from "../services/access/Caller.ts"
import { digestSecret, type SessionOwner, Sessions } from "../services/Sessions.ts"
import { Settings } from "../services/settings/Settings.ts"
import { challengeHeader, computeProof, PrivateToken, proofHeader } from "../services/state/discovery.ts"
import {
  type Access,
  Allowed,
  ApiError,
  collectRequiredAccess,
  orApiError,
  resolveRequiredAccess
} from "./api/annotations.ts"
import { BerthApi } from "./api/BerthApi.ts"
import { describeBodyTooLong, maxBodyBytes, maxUnknownBodyBytes, withBoundedJson, withBoundedText } from "./body.ts"
import { isLoopback } from "./listen.ts"
import { isOwnPeer } from "./ownPeer.ts"
import { buildErrorResponse, handleDefect, normalizeTarget, type RequestTarget } from "./requestTarget.ts"
import { preflightResponse, withSecurityHeaders } from "./securityHeaders.ts"
import { readSessionId, WrongTokens } from "./sessions.ts"

const digest = (text: string) => createHash("sha256").update(text).digest()

/**
 * Compares with a secret in constant time. Comparing digests of equal length hides both a matching prefix and the
 * secret's length.
 */
export const isSameSecret = (given: string, secret: Redacted.Redacted): boolean =>
  timingSafeEqual(digest(given), digest(Redacted.value(secret)))

/** True when an endpoint is open to every caller, at least without query parameters. */
const isOpen = (access: Access): boolean => access === "anyone" || access === "anyone without parameters"

/** True when a role may send a request to an endpoint of this access. */
const mayCall = (role: CallerRole, access: Access, { hasQuery }: { readonly hasQuery: boolean }): boolean => {
  if (isOpen(access) && (access === "anyone" || !hasQuery)) return true
  return access === "operator" ? mayChange(role) : isKnown(role)
}

/** Tokens that authenticate callers. */
interface AccessTokens {
  /** Operator's token. Once any token is set, every caller needs one. */
  readonly token: Option.Option<Redacted.Redacted>
  readonly tokens: ReadonlyArray<NamedToken>
  /** Private token of the service, for programs of the same user on this machine; accepted in place of any other. */
  readonly privateToken: Option.Option<Redacted.Redacted>
}

/** True if the settings have a token. */
export const requiresToken = ({ token, tokens }: Pick<AccessTokens, "token" | "tokens">): boolean =>
  Option.isSome(token) || tokens.length > 0

const holders = ({ privateToken, token, tokens }: AccessTokens): ReadonlyArray<NamedToken> => [
  ...Option.toArray(Option.map(privateToken, (token) => ({ ...makeLocalCaller(), token }))),
  ...Option.toArray(Option.map(token, (token): NamedToken => ({ name: nameOfToken, token, role: "operator" }))),
  ...tokens
]

const callerOf = ([holder]: ReadonlyArray<NamedToken>): Option.Option<KnownCaller> =>
  Option.map(Option.fromNullable(holder), ({ name, role }) => ({ name, role }))

/** Holder of a token. Compares with every token, so that timing does not reveal which one matches. */
export const findTokenHolder = (given: string, tokens: AccessTokens): Option.Option<KnownCaller> =>
  callerOf(holders(tokens).filter(({ token }) => isSameSecret(given, token)))

const isDigestOf = (tokenDigest: string) => (token: Redacted.Redacted) =>
  digestSecret(Redacted.value(token)) === tokenDigest

/**
 * Holder of a session while its token is valid, with the current role of the token. A session of the private token only
 * counts for requests of the service's own user: browsers also show its cookie to other ports of this machine.
 */
const findSessionOwner = (
  { name, tokenDigest }: SessionOwner,
  tokens: AccessTokens,
  isOwn: Effect.Effect<boolean>
): Effect.Effect<Option.Option<KnownCaller>> => {
  const isSame = isDigestOf(tokenDigest)
  return Option.exists(tokens.privateToken, isSame)
    ? Effect.map(isOwn, (isOwn) => isOwn ? Option.some(makeLocalCaller()) : Option.none())
    : Effect.succeed(callerOf(holders(tokens).filter((holder) => holder.name === name && isSame(holder.token))))
}

/** Policy of the guard, from the settings. */
export interface GuardPolicy extends AccessTokens {
  /** Accepted `Host` names in addition to the loopback ones. */
  readonly hosts: ReadonlyArray<string>
  /** Accepted browser origins in addition to the service's own. */
  readonly origins: ReadonlyArray<string>
}

/** Request line and headers as received. */
export interface RequestHead {
  readonly method: string
  /** Request target: a path, unless the caller mistakes the service for a proxy. */
  readonly target: string
  /** True if the request arrived over the loopback interface. */
  readonly fromHere: boolean
  /** Alternating names and values, including repeated headers. */
  readonly rawHeaders: ReadonlyArray<string>
  /** Holder of the session in the request's cookie. */
  readonly session: Option.Option<KnownCaller>
}

/** Decision about a request. `origin` is a foreign origin that may read the answer. */
type Verdict =
  | {
    readonly allowed: true
    readonly origin: Option.Option<string>
    readonly preflight: boolean
    readonly caller: Caller
    /** Target for routing; the raw URL must not be used. */
    readonly target: RequestTarget
  }
  | {
    readonly allowed: false
    readonly status: number
    readonly message: string
    /** True if the request has a token that is not valid; false without a token. */
    readonly hasWrongToken: boolean
  }

const refuse = (status: number, message: string, hasWrongToken = false): Verdict => ({
  allowed: false,
  status,
  message,
  hasWrongToken
})
const isRead = ({ method }: RequestHead) => ["GET", "HEAD", "OPTIONS"].includes(method)

const loopbackNames = ["localhost", "127.0.0.1", "[::1]"]

const valuesOf = (head: RequestHead, name: string): ReadonlyArray<string> =>
  head.rawHeaders.flatMap((header, index) =>
    index % 2 === 0 && header.toLowerCase() === name ? [head.rawHeaders[index + 1] ?? ""] : []
  )

/** True if a role may send a request there. Only browsers reach the page by a screen's address. */
const mayReach = (role: Caller["role"], head: RequestHead, { destination, hasQuery, path }: RequestTarget): boolean => {
  switch (destination._tag) {
    case "Endpoint":
      return mayCall(role, destination.access === "operator" ? "viewer" : destination.access, { hasQuery })
    case "Asset":
    case "Document":
      return true
    case "Screen":
      return path === "/" || asksForPage(head) || isKnown(role)
    case "Agents":
    case "Nowhere":
      return isKnown(role)
  }
}

const asksForPage = (head: RequestHead) => valuesOf(head, "accept").join(",").includes("text/html")

/** True for a navigation to a page, whose content the linking site cannot read. */
const followsLink = (head: RequestHead, { destination }: RequestTarget) =>
  (destination._tag === "Screen" || destination._tag === "Document") && asksForPage(head) &&
  valuesOf(head, "sec-fetch-mode").join() === "navigate" &&
  valuesOf(head, "sec-fetch-dest").join() === "document"

/** `example.com:3100` without its port, in lower case. */
const hostName = (host: string) => host.toLowerCase().replace(/:\d{1,5}$/, "")

const bearerOf = (head: RequestHead): string | undefined => {
  const [header, ...more] = valuesOf(head, "authorization")
  return more.length === 0 ? /^Bearer +([^ ].*)$/i.exec(header ?? "")?.[1] : undefined
}

/** Authorizes a request by its head alone, before routing and before its body is read. */
export const authorizeRequest = (head: RequestHead, policy: GuardPolicy): Verdict => {
  // An absolute URL would name a second host besides the Host header.
  if (!head.target.startsWith("/")) return refuse(403, "Malformed HTTP request: its path must start with /")
  const normalized = normalizeTarget(head.method, head.target)
  if (Either.isLeft(normalized)) return refuse(400, "Malformed HTTP request: its path is not valid percent-encoding")
  const target = normalized.right
  const given = bearerOf(head)
  const isOwn = given !== undefined && Option.exists(policy.privateToken, (token) => isSameSecret(given, token))
  const [host, ...moreHosts] = valuesOf(head, "host")
  if (host === undefined || moreHosts.length > 0) return refuse(403, "A request needs exactly one Host header")
  const allowedHosts = [...loopbackNames, ...policy.hosts.map((name) => name.toLowerCase())]
  if (!isOwn && !allowedHosts.includes(hostName(host))) {
    return refuse(403, `The host name ${quoteInput(host)} is not accepted: add it to http.hosts in the settings`)
  }

  const origins = valuesOf(head, "origin")
  const [origin] = origins
  const listed = origin !== undefined && origin !== "null" && policy.origins.includes(origin)
  // Behind a proxy the page may be on https under the same name.
  const sameOrigin = [`http://${host.toLowerCase()}`, `https://${host.toLowerCase()}`].includes(
    origin?.toLowerCase() ?? ""
  )
  const own = origin === undefined || sameOrigin
  if (origins.length > 1 || !(own || listed)) {
    return refuse(403, `The origin ${quoteInput(origin ?? "")} is not accepted: add it to http.origins in the settings`)
  }
  const sites = valuesOf(head, "sec-fetch-site")
  if (!listed && !followsLink(head, target) && sites.some((site) => site !== "same-origin" && site !== "none")) {
    return refuse(403, "Requests from other web sites are not accepted")
  }

  const preflight = listed && head.method === "OPTIONS"
  // Browsers also send the cookie with requests from pages of other sites, so writes must come from this service's
  // pages.
  const usesSession = given === undefined && requiresToken(policy) && Option.isSome(head.session)
  if (usesSession && !isRead(head) && !sameOrigin && !sites.includes("same-origin")) {
    return refuse(403, "A request with the session's cookie must come from a page of this service")
  }
  const known = isOwn || !requiresToken(policy)
    ? Option.some(makeLocalCaller())
    : usesSession && own
    ? head.session
    : Option.flatMap(Option.fromNullable(given), (given) => findTokenHolder(given, policy))
  const caller = Option.getOrElse(known, () => anonymousCaller)
  if (!preflight && !mayReach(caller.role, head, target)) {
    return given === undefined ? refuse(401, tokenRequired) : refuse(401, tokenUnknown, true)
  }
  // Berth does not start on other interfaces without a token, but the token may be removed from the settings later.
  if (!isOwn && !requiresToken(policy) && !head.fromHere) {
    return refuse(401, "Only this machine is answered while the settings have neither http.token nor http.tokens")
  }

  const length = Number(valuesOf(head, "content-length")[0] ?? "0")
  if (length > maxBodyBytes) return refuse(413, describeBodyTooLong(maxBodyBytes))
  const hasBody = length !== 0 || valuesOf(head, "transfer-encoding").length > 0
  const types = valuesOf(head, "content-type")
  // The router parses a form by its type, even one without a body.
  const isForm = types.some((type) => /multipart\//i.test(type))
  if (isForm || hasBody && (types.length !== 1 || !/^application\/json\s*(;|$)/i.test(types[0] ?? ""))) {
    return refuse(415, "The request body must be JSON: send Content-Type: application/json")
  }
  return { allowed: true, origin: listed ? Option.some(origin) : Option.none(), preflight, caller, target }
}

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
      ? `This needs the role operator, and the token ${quoteInput(name)} has the role ${role}. Nothing was changed: ` +
        "use an operator's token"
      : `This changes something, and agents may only read here: the setting ${limitedBy} is on. Nothing was changed`
    return yield* new ApiError({ status: 403, message })
  })
)

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

/** Policy of the guard, from the current settings. */
export class CurrentPolicy extends Context.Tag("berth/CurrentPolicy")<CurrentPolicy, {
  readonly now: Effect.Effect<GuardPolicy>
  /** At most a second old, so that many open streams share one read of the settings. */
  readonly recent: Effect.Effect<GuardPolicy>
}>() {}

/** The policy of the settings and this process's private token. */
export const CurrentPolicyLive = Layer.effect(
  CurrentPolicy,
  Effect.gen(function*() {
    const settings = yield* Settings
    const privateToken = yield* PrivateToken
    const now = Effect.map(settings.guard, (guard): GuardPolicy => ({ ...guard, privateToken }))
    // Uninterruptible: a stream that ends during the read must not fail others that wait for it.
    return { now, recent: yield* Effect.cachedWithTTL(Effect.uninterruptible(now), "1 second") }
  })
)

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

const lostRights = "The rights of this caller were reduced while the request arrived: nothing was changed"

/** Finds the caller of the session in a request's cookie. */
const sessionOf = (
  headers: Headers.Headers,
  policy: GuardPolicy,
  find: Sessions["Type"]["find"],
  isOwn: Effect.Effect<boolean>
) =>
  Option.match(readSessionId(headers), {
    onNone: () => Effect.succeedNone,
    onSome: (id) =>
      Effect.flatMap(
        find(id),
        Option.match({
          onNone: () => Effect.succeedNone,
          onSome: (session) => findSessionOwner(session, policy, isOwn)
        })
      )
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
      Effect.map(sessionOf(request.headers, policy, find, Effect.suspend(() => isOwnPeer(source))), (session) =>
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
        onSuccess: () =>
          refused(verdict)
      })
    }
    if (verdict.preflight) {
      return withSecurityHeaders(preflightResponse, verdict.origin)
    }
    const isAllowed = Effect.map(
      Effect.flatMap(policy.recent, (recent) =>
        judged(recent, sessions.peek)),
      (now) => now.allowed && hasKeptRights(verdict.caller, now.caller)
    )
    // A response is sent before middleware sees it, so its headers are set in a pre-response handler.
    yield* HttpApp.appendPreResponseHandler((_, response) =>
      Effect.succeed(whileAllowed(withSecurityHeaders(response, verdict.origin), isAllowed))
    )
    const known = Effect.provideService(app, CurrentCaller, verdict.caller)
    const routed = request.modify({ url: verdict.target.url })
    const confirm = Effect.gen(function*() {
      const again = yield* judged(yield* policy.now, sessions.peek)
      if (!again.allowed) return yield* new ApiError({ status: again.status, message: again.message })
      if (!hasKeptRights(verdict.caller, again.caller)) return yield* new ApiError({ status: 403, message: lostRights })
    })
    const bodyLimit = bodyLimitFor(verdict.target, verdict.caller)
    const read = withBoundedJson(yield* withBoundedText(routed, bodyLimit, confirm))
    return yield* Effect.provideService(known, HttpServerRequest.HttpServerRequest, read)
  }).pipe(HttpServerRequest.withMaxBodySize(Option.some(FileSystem.Size(maxBodyBytes))))
)

/**
 * Outermost middleware: answers defects that no other middleware caught, such as those of the guard, with the body and
 * headers of every other failure. Without it, the server would answer an empty 500 and log nothing.
 */
export const answerDefects = HttpMiddleware.make((app) =>
  Effect.catchAllCause(app, (cause) =>
    Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const isAnswered = NodeHttpServerRequest.toServerResponse(request).headersSent
      if (isAnswered || Cause.isInterruptedOnly(cause)) return yield* Effect.failCause(cause)
      return withSecurityHeaders(yield* handleDefect(cause), Option.none())
    }))
)
