import { describe, expect, it } from "vitest"
import { findHeadersRefusal, parseHeaderList } from "../../../src/schema/basics.ts"

describe("a list of headers", () => {
  it("has names and percent-encoded values, as the exporters of OpenTelemetry take it", () => {
    const text = "Authorization=Basic YTpi==, x-scope = a%2Cb,api-key=k"
    expect(findHeadersRefusal(text)).toBeUndefined()
    expect(parseHeaderList(text)).toEqual({ "authorization": "Basic YTpi==", "x-scope": "a,b", "api-key": "k" })
  })

  it.each(["", "a", "=a", "a=", "a b=c", "a=%zz", "a=%0d%0ax: y", "a=é", "a=b,"])("is not %j", (text) => {
    expect(findHeadersRefusal(text)).toBe("must be headers like Authorization=Bearer%20TOKEN, separated by commas")
  })

  it.each(["Host=a", "content-length=1", "x=y,Transfer-Encoding=chunked"])("does not name %s", (text) => {
    expect(findHeadersRefusal(text)).toBe("must not name headers that a request itself has")
  })
})
