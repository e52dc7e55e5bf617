import { HttpApi, HttpApiBuilder, HttpApiError, HttpServerError, HttpServerResponse } from "@effect/platform"
import { Cause, Effect, Either, Option } from "effect"
import { cut, findNearest, withShortWords } from "../schema/words.ts"
import { redactText } from "../services/masking.ts"
import { scrubSecrets, Settings } from "../services/settings/Settings.ts"
import { type Access, ApiError, collectRequiredAccess, resolveRequiredAccess } from "./api/annotations.ts"
import { BerthApi } from "./api/BerthApi.ts"

/** Path with invalid percent-encoding, which no route can match. */
interface MalformedPath {
  readonly _tag: "MalformedPath"
}

/** Resource that a request addresses. */
type Destination =
  /** An endpoint, by its `POST /path` in the contract. */
  | { readonly _tag: "Endpoint"; readonly endpoint: string; readonly access: Access }
  /** The MCP endpoint. */
  | { readonly _tag: "Agents" }
  /** Description and reference of the API, which contain no data of the service. */
  | { readonly _tag: "Document" }
  /** A file of the web page, by its name. */
  | { readonly _tag: "Asset" }
  /** URL of a screen, served to browsers only. */
  | { readonly _tag: "Screen" }
  /** No route; `methods` lists those that the path supports. */
  | { readonly _tag: "Nowhere"; readonly methods: ReadonlyArray<string> }

/** Request target in canonical form. */
export interface RequestTarget {
  /** Path and query; the only basis of later decisions. */
  readonly url: string
  readonly path: string
  readonly hasQuery: boolean
  readonly destination: Destination
}

interface Route {
  readonly method: string
  readonly segments: ReadonlyArray<string>
  readonly destination: Destination
}

const isParameter = (segment: string) => segment.startsWith(":")
const segmentsOf = (path: string) => path.split("/").filter((segment) => segment !== "")
const route = (path: string, destination: Destination, method = "GET"): Route => ({
  method,
  segments: segmentsOf(path),
  destination
})

/** Methods of the MCP endpoint. */
export const agentMethods = ["GET", "POST", "DELETE"]

const routes: Array<Route> = [
  route("/", { _tag: "Screen" }),
  route("/reference", { _tag: "Document" }),
  route("/openapi.json", { _tag: "Document" }),
  route("/assets/:name", { _tag: "Asset" }),
  ...agentMethods.map((method) => route("/mcp", { _tag: "Agents" }, method))
]
const access = collectRequiredAccess(BerthApi)
HttpApi.reflect(BerthApi, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint: { method, path } }) => {
    const endpoint = `${method} ${path}`
    routes.push(route(path, { _tag: "Endpoint", endpoint, access: resolveRequiredAccess(access, endpoint) }, method))
  }
})

// The router prefers a static segment to a parameter, from the first segment on.
const preference = ({ segments }: Route) => segments.map((segment) => isParameter(segment) ? "1" : "0").join("")
routes.sort((one, other) => preference(one) < preference(other) ? -1 : 1)

/** Paths without parameters, for suggestions on a misspelled path. */
const plainPaths: ReadonlyArray<string> = [
  ...new Set(
    routes.filter(({ segments }) => !segments.some(isParameter)).map(({ segments }) => `/${segments.join("/")}`)
  )
]

/** Spells the given segments like the route does; undefined if they do not match. */
const spelledBy = ({ segments }: Route, given: ReadonlyArray<string>): ReadonlyArray<string> | undefined =>
  segments.length === given.length &&
    segments.every((segment, index) => isParameter(segment) || segment === given[index]?.toLowerCase())
    ? segments.map((segment, index) => isParameter(segment) ? given[index] ?? "" : segment)
    : undefined

/** First segments of URLs for programs: browsers never receive the page there. */
const reserved = new Set(["api", "mcp", "assets"])

const decodeSegment = Option.liftThrowable(decodeURIComponent)

/**
 * Normalizes a request's target once, before any decision: the router ignores letter case, doubled and trailing
 * slashes, percent-encoding, and text after a `;`.
 */
export const normalizeTarget = (method: string, given: string): Either.Either<RequestTarget, MalformedPath> => {
  const [beforeQuery = "", query = ""] = given.split(/\?([^]*)/)
  const decoded = Option.all(segmentsOf(beforeQuery.replace(/[;#][^]*/, "")).map(decodeSegment))
  if (Option.isNone(decoded)) return Either.left({ _tag: "MalformedPath" })
  const search = query.replace(/#[^]*/, "")
  const asked = method === "HEAD" ? "GET" : method
  const matching = routes.flatMap((each) => {
    const segments = spelledBy(each, decoded.value)
    return segments === undefined ? [] : [{ ...each, segments }]
  })
  const match = matching.find((each) => each.method === asked)
  if (match !== undefined) return Either.right(targetFrom(match.segments, search, match.destination))
  const [other] = matching
  const isScreen = asked === "GET" && other === undefined && !reserved.has(decoded.value[0]?.toLowerCase() ?? "")
  const methods = matching.map((each) => each.method)
  return Either.right(
    targetFrom(other?.segments ?? decoded.value, search, isScreen ? { _tag: "Screen" } : { _tag: "Nowhere", methods })
  )
}

/** Endpoint that a request addresses, as its `POST /path` in the contract. */
export const findEndpoint = (
  { method, url }: { readonly method: string; readonly url: string }
): Option.Option<string> =>
  Option.flatMap(
    Either.getRight(normalizeTarget(method, url)),
    ({ destination }) => destination._tag === "Endpoint" ? Option.some(destination.endpoint) : Option.none()
  )

const targetFrom = (segments: ReadonlyArray<string>, query: string, destination: Destination): RequestTarget => {
  const path = `/${segments.map(encodeURIComponent).join("/")}`
  return { url: query === "" ? path : `${path}?${query}`, path, hasQuery: query !== "", destination }
}

/** Reason why no endpoint matches a request: an unknown path, or a method that the path does not take. */
export const makeEndpointNotFound = ({ method, url }: { readonly method: string; readonly url: string }): ApiError => {
  const target = Either.getOrUndefined(normalizeTarget(method, url))
  const path = target?.path ?? url.replace(/\?[^]*/, "")
  const allowed = target?.destination._tag === "Nowhere" ? target.destination.methods : []
  if (allowed.length > 0) {
    const message = `${method} is not allowed on ${cut(path)}: use ${allowed.join(" or ")}`
    const allow = allowed.flatMap((name) => name === "GET" ? ["GET", "HEAD"] : [name]).join(", ")
    return new ApiError({ status: 405, message, headers: { allow } })
  }
  const meant = findNearest(path, plainPaths)
  const hint = meant === undefined ? "See /reference for what there is" : `Did you mean ${meant}?`
  return new ApiError({ status: 404, message: `No such endpoint: ${method} ${cut(path)}. ${hint}` })
}

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim()

const badRequest = (message: string) => new ApiError({ status: 400, message })

/** Refusal of a request that does not match its schema. Schema messages are whole sentences already. */
export const fromIssues = ({ issues }: HttpApiError.HttpApiDecodeError): ApiError =>
  badRequest(issues.slice(0, 5).map(({ message }) => oneLine(message)).join("; ").slice(0, 2_000))

const known = (failure: unknown): Option.Option<ApiError> => {
  if (failure instanceof ApiError) return Option.some(failure)
  if (failure instanceof HttpApiError.HttpApiDecodeError) return Option.some(fromIssues(failure))
  if (failure instanceof HttpServerError.RouteNotFound) return Option.some(makeEndpointNotFound(failure.request))
  return failure instanceof HttpServerError.RequestError
    ? Option.some(badRequest("The request body cannot be read: it did not arrive whole, or is not text"))
    : Option.none()
}

/** Response to a failure: `{error}` with its status. */
export const buildErrorResponse = (
  { headers = {}, message, status }: Pick<ApiError, "headers" | "message" | "status">
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.unsafeJson({ error: message }, {
    status,
    // RFC 9110, 11.6.1: a 401 names the scheme that is wanted.
    headers: status === 401 ? { "www-authenticate": `Bearer realm="Berth"`, ...headers } : headers
  })

const stackOf = (text: string) => text.split("\n").filter((line) => /^\s+at /.test(line)).join("\n")

/**
 * Logs a defect in full and answers a plain 500, so that no internals leave the service. If secrets cannot be removed
 * because the settings are unreadable, only the stack is logged.
 */
export const handleDefect = (
  cause: Cause.Cause<unknown>
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, Settings> =>
  Effect.gen(function*() {
    const words = Cause.pretty(cause, { renderErrorCause: true })
    const [first = "", ...lines] = yield* scrubSecrets(words).pipe(
      Effect.catchAllCause(() => Effect.succeed(`its message may hold secrets\n${stackOf(words)}`)),
      Effect.map((text) => text.split("\n"))
    )
    yield* Effect.logError(`A request failed in a way that was not foreseen: ${first}`, ...lines)
    return buildErrorResponse({ status: 500, message: "Internal error: see the service's log" })
  })

/** Renders expected failures as `{error}` with their own status, and defects with `unforeseen`. */
export const ErrorsLive = HttpApiBuilder.middleware(Effect.gen(function*() {
  const settings = yield* Settings
  const shown = (text: string) => Effect.map(settings.secrets, (secrets) => redactText(text, secrets))
  return (app) =>
    Effect.catchAllCause(app, (cause) => {
      if (Cause.isInterruptedOnly(cause)) return Effect.failCause(cause)
      return Option.match(known(Cause.squash(cause)), {
        onSome: (failure) =>
          Effect.map(shown(failure.message), (message) =>
            buildErrorResponse({ ...failure, message: withShortWords(message) })),
        onNone: () =>
          Effect.provideService(handleDefect(cause), Settings, settings)
      })
    })
}))
