import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { makeGitHostDouble } from "../../../src/sandbox/gitHost.ts"
import { requestTo } from "../request.ts"

const hooks = "/api/v1/repos/me/shop/hooks"
const creation = {
  type: "githost",
  active: true,
  config: { url: "http://platform.test/hook", content_type: "json", secret: "one" },
  events: ["push"]
}

const start = (seeded = 0) =>
  Effect.map(
    makeGitHostDouble({
      token: Redacted.make("git-token"),
      seed: {
        repositories: {
          "me/shop": Array.from({ length: seeded }, (_, n) => ({ url: `http://other.test/${n}` }))
        }
      }
    }),
    (gitHost) => ({ gitHost, send: requestTo(gitHost.url, { authorization: "token git-token" }) })
  )

describe("the git host", () => {
  it.scoped("wants its token", () =>
    Effect.gen(function*() {
      const { gitHost } = yield* start()
      const answer = yield* requestTo(gitHost.url, { authorization: "Bearer git-token" })("GET", hooks)
      expect(answer).toMatchObject({ status: 401, body: { message: "token is required" } })
    }))

  it.scoped("creates, changes and deletes hooks and never shows a secret", () =>
    Effect.gen(function*() {
      const { gitHost, send } = yield* start()
      const created = yield* send("POST", hooks, creation)
      expect(created).toMatchObject({ status: 201, body: { active: true, events: ["push"], type: "githost" } })
      expect(JSON.stringify(created.body)).not.toContain("\"one\"")
      const path = `${hooks}/${created.body.id}`
      const changed = yield* send("PATCH", path, { active: false, config: { content_type: "json", secret: "two" } })
      expect(changed).toMatchObject({ status: 200, body: { active: false, config: { url: creation.config.url } } })
      expect(yield* gitHost.state.hooks("me/shop")).toMatchObject([{ secret: "two", active: false, events: ["push"] }])
      expect((yield* send("GET", hooks)).body).toHaveLength(1)
      expect(yield* send("DELETE", path)).toMatchObject({ status: 204, body: "" })
      expect((yield* send("DELETE", path)).status).toBe(404)
      expect((yield* send("GET", hooks)).body).toEqual([])
    }))

  it.scoped("turns down what does not fit and repositories that it does not have", () =>
    Effect.gen(function*() {
      const { send } = yield* start()
      const refused = yield* send("POST", hooks, { ...creation, config: { url: "nowhere", content_type: "json" } })
      expect(refused.status).toBe(422)
      expect(refused.body.message).toContain("config.url")
      expect((yield* send("GET", "/api/v1/repos/me/other/hooks")).status).toBe(404)
      expect((yield* send("GET", "/api/v1/repos/me/shop")).body).toMatchObject({ permissions: { admin: true } })
      expect((yield* send("GET", "/api/v1/repos/me/other")).status).toBe(404)
      expect((yield* send("GET", "/api/v1/repos/me/shop/more")).status).toBe(404)
    }))

  it.scoped("hands hooks out in pages of thirty, or of fifty at most", () =>
    Effect.gen(function*() {
      const { send } = yield* start(70)
      const first = yield* send("GET", hooks)
      expect(first.body).toHaveLength(30)
      expect(first.headers.get("x-total-count")).toBe("70")
      expect((yield* send("GET", `${hooks}?page=3`)).body).toHaveLength(10)
      expect((yield* send("GET", `${hooks}?limit=1000`)).body).toHaveLength(50)
      expect((yield* send("GET", `${hooks}?limit=50&page=2`)).body).toHaveLength(20)
      expect((yield* send("GET", `${hooks}?page=9`)).body).toEqual([])
    }))
})
