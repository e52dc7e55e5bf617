import { type Headers, HttpServerResponse } from "@effect/platform"
import { Duration, Option } from "effect"
import { longestTime } from "../../services/sessions/Sessions.ts"
import { hostCookie, plainCookie } from "../api/annotations/cookieNames.ts"

const idForm = /^[\w-]{43}$/

/** True if the page was served over https, behind a proxy. */
export const isSecure = (headers: Headers.Headers): boolean =>
  headers["origin"]?.startsWith("https://") === true ||
  headers["x-forwarded-proto"]?.split(",")[0]?.trim().toLowerCase() === "https"

const valuesOf = (header: string, wanted: string): ReadonlyArray<string> =>
  header.split(";").flatMap((pair) => {
    const [name, ...value] = pair.split("=")
    return name?.trim() === wanted ? [value.join("=").trim()] : []
  })

/**
 * Session id in a request's cookies; none if the cookie occurs twice. On https only the `__Host-` cookie counts,
 * because another host of the same domain may have set the plain one.
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

/** Sets the session cookie, unreadable for scripts and not sent with requests of other sites. */
export const withSession = (id: string, secure: boolean) => (response: HttpServerResponse.HttpServerResponse) =>
  HttpServerResponse.unsafeSetCookie(response, nameFor(secure), id, {
    ...attributes(secure),
    maxAge: Duration.seconds(Math.floor(Duration.toSeconds(longestTime)))
  })

/** Clears the session cookie. */
export const withoutSession = (secure: boolean) => (response: HttpServerResponse.HttpServerResponse) =>
  HttpServerResponse.unsafeSetCookie(response, nameFor(secure), "", { ...attributes(secure), maxAge: Duration.zero })
