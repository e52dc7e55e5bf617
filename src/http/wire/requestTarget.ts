import { HttpApi } from "@effect/platform"
import { Either, Option } from "effect"
import type { Access } from "../../services/access/rights.ts"
import { collectRequiredAccess, resolveRequiredAccess } from "../api/annotations/access.ts"
import { BerthApi } from "../api/BerthApi.ts"

/** Path with invalid percent-encoding, which no route can match. */
export interface MalformedPath {
  readonly _tag: "MalformedPath"
}

/** Resource that a request addresses. */
export type Destination =
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
export const plainPaths: ReadonlyArray<string> = [
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
