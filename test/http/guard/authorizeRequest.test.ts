import { Option, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { maxBodyBytes } from "../../../src/http/body.ts"
import { authorizeRequest, type GuardPolicy, type RequestHead } from "../../../src/http/guard.ts"
import { tokenUnknown } from "../../../src/schema/session.ts"
import { addressOf, operations } from "../../fixtures/hostile/operations.ts"

const open: GuardPolicy = { token: Option.none(), tokens: [], privateToken: Option.none(), hosts: [], origins: [] }
const listed: GuardPolicy = { ...open, hosts: ["Berth.LAN"], origins: ["http://ui.lan:5173"] }
const locked: GuardPolicy = { ...listed, token: Option.some(Redacted.make("s3cret")) }

const verdict = (
  headers: ReadonlyArray<readonly [string, string]>,
  policy: GuardPolicy = open,
  { fromHere = true, method = "GET", session = Option.none(), target = "/api/servers" }: Partial<RequestHead> = {}
) => {
  const judged = authorizeRequest({ method, target, fromHere, rawHeaders: headers.flat(), session }, policy)
  return judged.allowed ? 200 : judged.status
}
const host = ["Host", "localhost:3100"] as const

describe("authorizeRequest", () => {
  it.each([
    ["host", [["Host", "e".repeat(3_000)]]],
    ["origin", [host, ["Origin", `http://${"o".repeat(3_000)}`]]]
  ])("repeats no more than the beginning of a long %s", (name, headers) => {
    const head = { method: "GET", target: "/", fromHere: true, rawHeaders: headers.flat(), session: Option.none() }
    const judged = authorizeRequest(head, open)
    const message = judged.allowed ? "" : judged.message
    expect(message).toMatch(new RegExp(`^The ${name}(?: name)? ".*…" is not accepted: add it to http\\.${name}s`))
    expect(message.length).toBeLessThan(300)
  })

  it.each(
    [
      ["localhost", [["Host", "localhost:3100"]], 200],
      ["127.0.0.1", [["Host", "127.0.0.1:3100"]], 200],
      ["[::1]", [["Host", "[::1]:3100"]], 200],
      ["no port", [["Host", "LOCALHOST"]], 200],
      ["no Host", [], 403],
      ["two Hosts", [host, ["host", "localhost:3100"]], 403],
      ["a rebound name", [["Host", "evil.example:3100"]], 403],
      ["a name that only begins well", [["Host", "localhost.evil.example"]], 403],
      ["an unlisted host", [["Host", "berth.lan"]], 403],
      ["its own origin", [host, ["Origin", "http://localhost:3100"]], 200],
      ["another port's origin", [host, ["Origin", "http://localhost:8080"]], 403],
      ["a foreign origin", [host, ["Origin", "https://evil.example"]], 403],
      ["a null origin", [host, ["Origin", "null"]], 403],
      ["two origins", [host, ["Origin", "http://localhost:3100"], ["Origin", "http://localhost:3100"]], 403],
      ["a same-origin fetch", [host, ["Sec-Fetch-Site", "same-origin"]], 200],
      ["an address typed by hand", [host, ["Sec-Fetch-Site", "none"]], 200],
      ["a cross-site fetch", [host, ["Sec-Fetch-Site", "cross-site"]], 403],
      [
        "a cross-site fetch that gives its origin as the service's",
        [host, ["Origin", "http://localhost:3100"], ["Sec-Fetch-Site", "cross-site"]],
        403
      ],
      ["a same-site fetch", [host, ["Sec-Fetch-Site", "same-site"]], 403],
      ["a JSON body", [host, ["Content-Length", "2"], ["Content-Type", "application/json; charset=utf-8"]], 200],
      ["an empty body", [host, ["Content-Length", "0"]], 200],
      ["a body whose length is none", [host, ["Content-Length", "two"]], 415],
      [
        "two types",
        [host, ["Content-Length", "2"], ["Content-Type", "application/json"], ["Content-Type", "text/plain"]],
        415
      ],
      ["a form", [host, ["Content-Length", "2"], ["Content-Type", "application/x-www-form-urlencoded"]], 415],
      [
        "a form without a body",
        [host, ["Content-Length", "0"], ["Content-Type", "Multipart/form-data; boundary=x"]],
        415
      ],
      ["a simple request's text", [host, ["Content-Length", "2"], ["Content-Type", "text/plain"]], 415],
      ["a body without a type", [host, ["Content-Length", "2"]], 415],
      [
        "a type that only ends well",
        [host, ["Content-Length", "2"], ["Content-Type", "text/plain;application/json"]],
        415
      ],
      ["a type that only begins well", [host, ["Content-Length", "2"], ["Content-Type", "application/json5"]], 415],
      ["a chunked body without a type", [host, ["Transfer-Encoding", "chunked"]], 415],
      [
        "a body at the limit",
        [host, ["Content-Length", `${maxBodyBytes}`], ["Content-Type", "application/json"]],
        200
      ],
      [
        "a body over the limit",
        [host, ["Content-Length", `${maxBodyBytes + 1}`], ["Content-Type", "application/json"]],
        413
      ]
    ] as const
  )("%s", (_, headers, status) => {
    expect(verdict(headers)).toBe(status)
  })

  it("lets in the hosts and origins that the settings list, and those alone", () => {
    expect(verdict([["Host", "berth.lan:3100"]], listed)).toBe(200)
    expect(verdict([["Host", "BERTH.lan"]], listed)).toBe(200)
    const fromUi = [host, ["Origin", "http://ui.lan:5173"], ["Sec-Fetch-Site", "cross-site"]] as const
    expect(verdict(fromUi, listed)).toBe(200)
    expect(verdict([host, ["Origin", "http://ui.lan"], ["Sec-Fetch-Site", "cross-site"]], listed)).toBe(403)
    expect(verdict([host, ["Origin", "null"]], { ...listed, origins: ["null"] })).toBe(403)
  })

  it("answers a listed origin's preflight, whose browser sends no token yet", () => {
    const rawHeaders = [...host, "Origin", "http://ui.lan:5173"]
    const preflight = authorizeRequest({
      method: "OPTIONS",
      target: "/api/servers",
      fromHere: true,
      rawHeaders,
      session: Option.none()
    }, locked)
    expect(preflight).toMatchObject({ allowed: true, preflight: true, origin: Option.some("http://ui.lan:5173") })
    expect(verdict([host], locked, { method: "OPTIONS" })).toBe(401)
  })

  it.each(
    [
      ["the token", [["Authorization", "Bearer s3cret"]], 200],
      ["no token", [], 401],
      ["another token", [["Authorization", "Bearer s3cret2"]], 401],
      ["half of it", [["Authorization", "Bearer s3cre"]], 401],
      ["another scheme", [["Authorization", "Basic s3cret"]], 401],
      ["an empty token", [["Authorization", "Bearer "]], 401],
      ["two tokens", [["Authorization", "Bearer s3cret"], ["Authorization", "Bearer s3cret"]], 401]
    ] as const
  )("wants the token where one is set: %s", (_, headers, status) => {
    expect(verdict([host, ...headers], locked)).toBe(status)
  })

  const paths = [
    ...operations.map((operation) => ({ method: operation.method, target: addressOf(operation, {}) })),
    ...["/", "/mcp", "/none", "/reference", "/assets/a.js"].map((target) => ({ method: "GET", target }))
  ]

  it.each(paths)("takes a wrong token for none at $method $target, and says so where it refuses it", (asked) => {
    const judged = (...more: ReadonlyArray<string>) =>
      authorizeRequest({ ...asked, fromHere: true, rawHeaders: [...host, ...more], session: Option.none() }, locked)
    const [none, wrong] = [judged(), judged("Authorization", "Bearer wrong")]
    expect(none).not.toMatchObject({ hasWrongToken: true })
    expect(wrong).toEqual(none.allowed ? none : { ...none, message: tokenUnknown, hasWrongToken: true })
    expect(judged("Authorization", "Bearer s3cret")).toMatchObject({ allowed: true, caller: { role: "operator" } })
  })

  it("takes no token for wrong where none is required, or where something else is refused", () => {
    const bearer = ["Authorization", "Bearer wrong"]
    for (
      const [rawHeaders, policy] of [[[...host, ...bearer], open], [
        ["Host", "evil.example", ...bearer],
        locked
      ]] as const
    ) {
      const judged = authorizeRequest({
        method: "GET",
        target: "/api/servers",
        fromHere: true,
        rawHeaders,
        session: Option.none()
      }, policy)
      expect(judged).not.toMatchObject({ hasWrongToken: true })
    }
  })

  it("takes a token with spaces in it for what it is", () => {
    const spaced = { ...open, token: Option.some(Redacted.make("open sesame")) }
    expect(verdict([host, ["Authorization", "Bearer open sesame"]], spaced)).toBe(200)
  })

  it("lets in who has the service's own token, by whatever name and from wherever, but no page of another site", () => {
    const own = { ...locked, privateToken: Option.some(Redacted.make("own")) }
    const bearer = ["Authorization", "Bearer own"] as const
    expect(verdict([host, bearer], own)).toBe(200)
    expect(verdict([["Host", "10.0.0.5:3100"], bearer], own, { fromHere: false })).toBe(200)
    expect(verdict([host, bearer], { ...own, token: Option.none() }, { fromHere: false })).toBe(200)
    expect(verdict([host, ["Authorization", "Bearer s3cret"]], own)).toBe(200)
    expect(verdict([host, bearer, ["Origin", "https://evil.example"]], own)).toBe(403)
    expect(verdict([["Host", "10.0.0.5:3100"]], own)).toBe(403)
    expect(verdict([host, bearer], locked)).toBe(401)
  })

  it.each(["http://localhost:3100/api/health", "http://evil.example/", "*", "", "api/health"])(
    "wants a path, and no address: %j",
    (target) => {
      expect(verdict([host], open, { target })).toBe(403)
    }
  )

  it("answers nobody beyond this machine without a token", () => {
    expect(verdict([host], open, { fromHere: false })).toBe(401)
    expect(verdict([host], locked, { fromHere: false })).toBe(401)
    expect(verdict([host, ["Authorization", "Bearer s3cret"]], locked, { fromHere: false })).toBe(200)
  })

  const cookie = { session: Option.some({ name: "Ann", role: "operator" as const }) }
  const post = { ...cookie, method: "POST", target: "/api/container/deploy" }
  const page = ["Origin", "http://localhost:3100"] as const

  it.each<[string, ReadonlyArray<readonly [string, string]>, Partial<RequestHead>, number]>([
    ["a read with the cookie", [], cookie, 200],
    ["a change from the service's own page", [page], post, 200],
    ["a change from its page behind a proxy", [["Origin", "https://localhost:3100"]], post, 200],
    ["a change that the browser says is of the same origin", [["Sec-Fetch-Site", "same-origin"]], post, 200],
    ["a change that does not say where it comes from", [], post, 403],
    ["a change from a typed address", [["Sec-Fetch-Site", "none"]], post, 403],
    ["a change from a listed origin", [["Origin", "http://ui.lan:5173"]], post, 403],
    ["a read from a listed origin", [["Origin", "http://ui.lan:5173"]], cookie, 401],
    ["a change from another site", [["Origin", "https://evil.example"]], post, 403],
    ["a wrong token beside the cookie", [["Authorization", "Bearer wrong"]], cookie, 401],
    ["a change with the token beside the cookie", [["Authorization", "Bearer s3cret"]], post, 200],
    ["a log-in without anything", [page], { method: "POST", target: "/api/session" }, 200],
    [
      "a log-in from another site",
      [["Origin", "https://evil.example"]],
      { method: "POST", target: "/api/session" },
      403
    ],
    ["a log-out without anything", [page], { method: "DELETE", target: "/api/session" }, 401]
  ])("of a session: %s", (_, headers, head, status) => {
    expect(verdict([host, ...headers], locked, head)).toBe(status)
  })

  it("says whose token it was, and takes everybody for the user of this machine where none is needed", () => {
    const tokens = [{ name: "Vic", token: Redacted.make("vics"), role: "viewer" as const }]
    const callerWith = (policy: GuardPolicy, ...more: ReadonlyArray<string>) => {
      const judged = authorizeRequest({
        method: "GET",
        target: "/api/servers",
        fromHere: true,
        rawHeaders: [...host, ...more],
        session: Option.none()
      }, policy)
      return judged.allowed ? judged.caller : judged.status
    }
    const team = { ...locked, tokens }
    expect(callerWith(team, "Authorization", "Bearer vics")).toEqual({ name: "Vic", role: "viewer" })
    expect(callerWith(team, "Authorization", "Bearer s3cret")).toEqual({ name: "token", role: "operator" })
    expect(callerWith({ ...team, token: Option.none() })).toBe(401)
    expect(callerWith(open)).toMatchObject({ name: expect.stringContaining("@"), role: "operator" })
  })
})
