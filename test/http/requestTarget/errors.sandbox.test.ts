import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeEndpointNotFound } from "../../../src/http/requestTarget.ts"
import { addressOf, operations } from "../../fixtures/hostile/operations.ts"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"

describe("noSuchEndpoint", () => {
  it.each([
    ["GET", "/api/container/deploy", 405, "GET is not allowed on /api/container/deploy: use POST", "POST"],
    ["PUT", "/api/servers?a=b", 405, "PUT is not allowed on /api/servers: use GET or POST", "GET, HEAD, POST"],
    ["GET", "/api/servers/1", 405, "GET is not allowed on /api/servers/1: use PUT or DELETE", "PUT, DELETE"],
    ["POST", "/reference", 405, "POST is not allowed on /reference: use GET", "GET, HEAD"],
    ["GET", "/api/elsewhere", 404, "No such endpoint: GET /api/elsewhere. See /reference for what there is", undefined],
    ["GET", "/api/server", 404, "No such endpoint: GET /api/server. Did you mean /api/servers?", undefined],
    [
      "GET",
      "/API//elsewhere/",
      404,
      "No such endpoint: GET /API/elsewhere. See /reference for what there is",
      undefined
    ],
    ["PUT", "/API/Servers/", 405, "PUT is not allowed on /api/servers: use GET or POST", "GET, HEAD, POST"]
  ])("%s %s is a %i", (method, url, status, message, allow) => {
    const error = makeEndpointNotFound({ method, url })
    expect(error.message).toBe(message)
    expect(error.status).toBe(status)
    expect(error.headers?.["allow"]).toBe(allow)
  })

  it("repeats no more than the beginning of a long path", () => {
    const { message } = makeEndpointNotFound({ method: "GET", url: `/${"x".repeat(900_000)}?${"y".repeat(1_000)}` })
    expect(message.length).toBeLessThan(300)
    expect(message).toContain("xxx…")
  })

  it.scopedLive("names the methods of every path that is asked for with another one", () =>
    Effect.gen(function*() {
      const { request } = yield* startService(yield* settingsFileWith(""))
      const addresses = new Set(
        operations.map((operation) => addressOf(operation, { path: { id: "1", uuid: "a", name: "b" } }))
      )
      for (const address of addresses) {
        // An id may be the last word of another path.
        const methods = operations.filter(({ path }) =>
          new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(address)
        ).map(({ method }) => method)
        const other = methods.includes("PUT") ? "PATCH" : "PUT"
        const reply = yield* request(other, address)
        expect(reply.status, address).toBe(405)
        expect(reply.headers.get("allow")?.split(", ").filter((method) => method !== "HEAD").sort()).toEqual(
          methods.sort()
        )
        expect(reply.body).toEqual({ error: expect.stringMatching(new RegExp(`^${other} is not allowed on `)) })
      }
    }))
})
