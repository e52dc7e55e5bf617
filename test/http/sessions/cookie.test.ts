import { Headers, HttpServerResponse } from "@effect/platform"
import { FastCheck, Option } from "effect"
import { describe, expect, it } from "vitest"
import { readSessionId, withoutSession, withSession } from "../../../src/http/sessions.ts"

const id = "a".repeat(43)
const other = "b".repeat(43)
const found = (cookie: string | undefined, more: Record<string, string> = {}) =>
  Option.getOrUndefined(readSessionId(Headers.fromInput({ ...more, ...(cookie === undefined ? {} : { cookie }) })))

const https = [{ "x-forwarded-proto": "https" }, { "x-forwarded-proto": "HTTPS, http" }, {
  origin: "https://berth.example.com"
}]

describe("the session's cookie", () => {
  it.each(["berth_session", "__Host-berth_session"].flatMap((name) =>
    [
      [`${name}=${id}`, id],
      [`other=1; ${name}=${id}; more=a=b`, id],
      [undefined, undefined],
      ["", undefined],
      [`${name}=`, undefined],
      [`${name}=${id}x`, undefined],
      [`${name}=${id.slice(1)}%`, undefined],
      [`x${name}=${id}`, undefined],
      [`${name}=${id}; ${name}=${other}`, undefined],
      [`${name}=${id}; ${name}=${id}`, undefined]
    ] as const
  ))("in %j is %j", (header, expected) => {
    expect(found(header)).toBe(expected)
  })

  it.each(https)("on https, as %j says, is the one of the host alone", (headers) => {
    expect(found(`__Host-berth_session=${id}`, headers)).toBe(id)
    expect(found(`berth_session=${other}`, headers)).toBeUndefined()
    expect(found(`berth_session=${other}; __Host-berth_session=${id}`, headers)).toBe(id)
  })

  it("of the host is never overridden by what a sibling domain may set, in any order or number", () => {
    const planted = FastCheck.constantFrom(
      `berth_session=${other}`,
      `berth_session=${"c".repeat(43)}`,
      "__host-berth_session_=x",
      "berth_session="
    )
    const headers = FastCheck.constantFrom({}, { "x-forwarded-proto": "http" }, ...https)
    FastCheck.assert(
      FastCheck.property(FastCheck.array(planted), FastCheck.array(planted), headers, (before, after, headers) => {
        expect(found([...before, `__Host-berth_session=${id}`, ...after].join("; "), headers)).toBe(id)
        const none = found([...before, ...after].join("; "), { ...headers, "x-forwarded-proto": "https" })
        expect(none).toBeUndefined()
      })
    )
  })

  it("is for no script, no other site and no other host, and for https alone where the page is on https", () => {
    const written = (secure: boolean) =>
      Object.values(withSession(id, secure)(HttpServerResponse.empty()).cookies.cookies)
    const options = { httpOnly: true, sameSite: "strict", path: "/" }
    expect(written(false)).toMatchObject([{ name: "berth_session", options: { ...options, secure: false } }])
    expect(written(true)).toMatchObject([{ name: "__Host-berth_session", options: { ...options, secure: true } }])
    for (const cookie of [...written(false), ...written(true)]) expect(cookie.options).not.toHaveProperty("domain")
    const [gone] = Object.values(withoutSession(true)(HttpServerResponse.empty()).cookies.cookies)
    expect(gone).toMatchObject({ name: "__Host-berth_session", value: "", options: { path: "/", secure: true } })
  })
})
