import { HttpApi } from "@effect/platform"
import { Either, Option } from "effect"
import type { Access } from "../../services/access/rights.ts"
import { collectRequiredAccess, resolveRequiredAccess } from "../api/annotations/access.ts"
import { BerthApi } from "../api/BerthApi.ts"

/** A path that no route can be found for, because its percent-encoding is broken. */
export interface MalformedPath {
  readonly _tag: "MalformedPath"
}

/** The resource that a request is for. */
export type Destination =
  /** An endpoint, by its `POST /path` in the contract. */
  | { readonly _tag: "Endpoint"; readonly endpoint: string; readonly access: Access }
  /** The door of agents. */
  | { readonly _tag: "Agents" }
  /** The description of the API and its reference; they say nothing of what the service knows. */
  | { readonly _tag: "Document" }
  /** A file of the web page, by its name. */
  | { readonly _tag: "Asset" }
  /** The address of a screen, which only a browser is answered at. */
  | { readonly _tag: "Screen" }
  /** No route; `methods` are those that the path takes. */
  | { readonly _tag: "Nowhere"; readonly methods: ReadonlyArray<string> }

/** A request's target in its one normal form. */
export interface RequestTarget {
  /** Path and query; all that is decided later is decided by it. */
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

/** The methods of the door of agents. */
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

/** Every path without parameters, to find the one nearest to a misspelled path. */
export const plainPaths: ReadonlyArray<string> = [
  ...new Set(
    routes.filter(({ segments }) => !segments.some(isParameter)).map(({ segments }) => `/${segments.join("/")}`)
  )
]

/** The given segments as the route spells them; undefined where they do not match it. */
const spelledBy = ({ segments }: Route, given: ReadonlyArray<string>): ReadonlyArray<string> | undefined =>
  segments.length === given.length &&
    segments.every((segment, index) => isParameter(segment) || segment === given[index]?.toLowerCase())
    ? segments.map((segment, index) => isParameter(segment) ? given[index] ?? "" : segment)
    : undefined

/** First segments of addresses that programs call: a browser is never answered with the page there. */
const reserved = new Set(["api", "mcp", "assets"])

const decodeSegment = Option.liftThrowable(decodeURIComponent)

/**
 * Normalizes a request's target once, before anything is decided by it: the router ignores the case of letters,
 * doubled and trailing slashes, percent-encoding, and text after a `;`.
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

/** The endpoint that a request is for, by its `POST /path` in the contract. */
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
