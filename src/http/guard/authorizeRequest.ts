import { Either, Option } from "effect"
import { quoteInput } from "../../schema/words/quoted.ts"
import { anonymousCaller, type Caller, type KnownCaller, makeLocalCaller } from "../../services/access/Caller.ts"
import { isKnown, mayCall } from "../../services/access/rights.ts"
import { type AccessTokens, findTokenHolder, requiresToken } from "../session/holders.ts"
import { isSameSecret } from "../session/isSameSecret.ts"
import { normalizeTarget, type RequestTarget } from "../wire/requestTarget.ts"
import { describeBodyTooLong, maxBodyBytes } from "./bodyLimits.ts"

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
export type Verdict =
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

/** Refusal of a caller without a valid token. */
export const tokenRequired =
  "A bearer token is required: send Authorization: Bearer <http.token of the settings, or one of " +
  "http.tokens>, or log in on the web page"

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
  if (!preflight && !mayReach(caller.role, head, target)) return refuse(401, tokenRequired, given !== undefined)
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
