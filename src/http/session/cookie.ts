import { HttpServerResponse } from "@effect/platform"
import { Duration, Option } from "effect"
import { longestTime } from "../../services/sessions/Sessions.ts"

const cookieName = "berth_session"
const idForm = /^[\w-]{43}$/

/** The id of the session in a `Cookie` header; nothing where there is none, or more than one. */
export const sessionIdIn = (header: string | undefined): Option.Option<string> => {
  const ids = (header ?? "").split(";").flatMap((pair) => {
    const [name, ...value] = pair.split("=")
    return name?.trim() === cookieName ? [value.join("=").trim()] : []
  })
  const [id] = ids
  return ids.length === 1 && id !== undefined && idForm.test(id) ? Option.some(id) : Option.none()
}

const attributes = (secure: boolean) => ({ httpOnly: true, sameSite: "strict", path: "/", secure } as const)

/** Hands the id of a session to the browser, for no script and no other site. */
export const withSession = (id: string, secure: boolean) => (response: HttpServerResponse.HttpServerResponse) =>
  HttpServerResponse.unsafeSetCookie(response, cookieName, id, {
    ...attributes(secure),
    maxAge: Duration.seconds(Math.floor(Duration.toSeconds(longestTime)))
  })

/** Takes the id of a session from the browser. */
export const withoutSession = (secure: boolean) => (response: HttpServerResponse.HttpServerResponse) =>
  HttpServerResponse.unsafeSetCookie(response, cookieName, "", { ...attributes(secure), maxAge: Duration.zero })
