import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { makeGiteaDouble } from "../../../src/sandbox/gitHost.ts"
import { requestTo } from "../request.ts"

const hooksPath = "/api/v1/repos/ann/shop/hooks"
const config = { url: "https://a.test", content_type: "json", secret: "first" }

const start = (hooks = 0) =>
  Effect.gen(function*() {
    const seed = { repositories: { "ann/shop": Array.from({ length: hooks }, () => ({ type: "gitea" })) } }
    const double = yield* makeGiteaDouble({ token: Redacted.make("git-token"), seed })
    return { double, send: requestTo(double.url, { authorization: "token git-token" }) }
  })

describe("a Gitea", () => {
  it.scoped("gives hooks by the page", () =>
    Effect.gen(function*() {
      const { send } = yield* start(123)
      const sizes = yield* Effect.forEach(
        ["", "?limit=50", "?limit=50&page=3", "?limit=500", "?limit=50&page=4"],
        (query) => Effect.map(send("GET", `${hooksPath}${query}`), ({ body }) => Object.values(body).length)
      )
      expect(sizes).toEqual([30, 50, 23, 50, 0])
    }))

  it.scoped("creates hooks that are not active unless they are told to be", () =>
    Effect.gen(function*() {
      const { send } = yield* start()
      const created = yield* send("POST", hooksPath, { type: "gitea", config, events: ["push"] })
      expect([created.status, created.body]).toMatchObject([201, { active: false, events: ["push"] }])
      expect(JSON.stringify(created.body)).not.toContain("first")
      expect((yield* send("POST", hooksPath, { type: "githost", config })).status).toBe(422)
    }))

  it.scoped("ignores a new secret, and forgets events and branches that are not said again", () =>
    Effect.gen(function*() {
      const { double, send } = yield* start()
      const made = { type: "gitea", active: true, config, events: ["release"], branch_filter: "main" }
      const { body } = yield* send("POST", hooksPath, made)
      const changed = yield* send("PATCH", `${hooksPath}/${String(body["id"])}`, {
        config: { ...config, secret: "second" }
      })
      expect(changed.body).toMatchObject({ active: true, events: ["push"], branch_filter: "" })
      expect(yield* double.state.hooks("ann/shop")).toMatchObject([{ secret: "first" }])
    }))

  it.scoped("answers a deletion with nothing", () =>
    Effect.gen(function*() {
      const { send } = yield* start(1)
      expect(yield* send("DELETE", `${hooksPath}/1`)).toMatchObject({ status: 204, body: "" })
      expect((yield* send("DELETE", `${hooksPath}/1`)).status).toBe(404)
      expect((yield* send("GET", "/api/v1/repos/ann/other/hooks")).status).toBe(404)
    }))
})
