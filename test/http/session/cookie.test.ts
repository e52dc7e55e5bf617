import { HttpServerResponse } from "@effect/platform"
import { Option } from "effect"
import { describe, expect, it } from "vitest"
import { sessionIdIn, withoutSession, withSession } from "../../../src/http/session/cookie.ts"

const id = "a".repeat(43)

describe("the session's cookie", () => {
  it.each([
    [`berth_session=${id}`, id],
    [`other=1; berth_session=${id}; more=a=b`, id],
    [undefined, undefined],
    ["", undefined],
    ["berth_session=", undefined],
    [`berth_session=${id}x`, undefined],
    [`berth_session=${id.slice(1)}%`, undefined],
    [`xberth_session=${id}`, undefined],
    [`berth_session=${id}; berth_session=${"b".repeat(43)}`, undefined]
  ])("in %j is %j", (header, found) => {
    expect(Option.getOrUndefined(sessionIdIn(header))).toBe(found)
  })

  it("is for no script and no other site, and for https alone where the page is on https", () => {
    const written = (secure: boolean) => {
      const [cookie] = withSession(id, secure)(HttpServerResponse.empty()).cookies.pipe((all) =>
        Object.values(all.cookies)
      )
      return cookie?.options
    }
    expect(written(false)).toMatchObject({ httpOnly: true, sameSite: "strict", path: "/", secure: false })
    expect(written(true)).toMatchObject({ httpOnly: true, sameSite: "strict", path: "/", secure: true })
    const [gone] = Object.values(withoutSession(true)(HttpServerResponse.empty()).cookies.cookies)
    expect(gone).toMatchObject({ value: "", options: { path: "/", secure: true } })
  })
})
