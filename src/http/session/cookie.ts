import { type Headers, HttpServerResponse } from "@effect/platform"
import { Duration, Option } from "effect"
import { longestTime } from "../../services/sessions/Sessions.ts"
import { hostCookie, plainCookie } from "../api/annotations/cookieNames.ts"

const idForm = /^[\w-]{43}$/

/** True if the page is on https, behind a proxy. */
export const isSecure = (headers: Headers.Headers): boolean =>
  headers["origin"]?.startsWith("https://") === true ||
  headers["x-forwarded-proto"]?.split(",")[0]?.trim().toLowerCase() === "https"

const valuesOf = (header: string, wanted: string): ReadonlyArray<string> =>
  header.split(";").flatMap((pair) => {
    const [name, ...value] = pair.split("=")
    return name?.trim() === wanted ? [value.join("=").trim()] : []
  })

/**
 * The id of the session that a request carries. A cookie with the name for https is the only one that counts wherever it
 * is sent: it proves that the page is on https, and another host of the same domain may have set the plain one. Nothing
 * where a name stands twice.
 */
export const readSessionId = (headers: Headers.Headers): Option.Option<string> => {
  const cookies = headers["cookie"] ?? ""
  const fromHost = valuesOf(cookies, hostCookie)
  const ids = fromHost.length > 0 || isSecure(headers) ? fromHost : valuesOf(cookies, plainCookie)
  const [id] = ids
  return ids.length === 1 && id !== undefined && idForm.test(id) ? Option.some(id) : Option.none()
}

const nameFor = (secure: boolean) => secure ? hostCookie : plainCookie
const attributes = (secure: boolean) => ({ httpOnly: true, sameSite: "strict", path: "/", secure } as const)

/** Hands the id of a session to the browser, for no script and no other site. */
export const withSession = (id: string, secure: boolean) => (response: HttpServerResponse.HttpServerResponse) =>
  HttpServerResponse.unsafeSetCookie(response, nameFor(secure), id, {
    ...attributes(secure),
    maxAge: Duration.seconds(Math.floor(Duration.toSeconds(longestTime)))
  })

/** Takes the id of a session from the browser. */
export const withoutSession = (secure: boolean) => (response: HttpServerResponse.HttpServerResponse) =>
  HttpServerResponse.unsafeSetCookie(response, nameFor(secure), "", { ...attributes(secure), maxAge: Duration.zero })
