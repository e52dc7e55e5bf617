import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { Agent, request as send } from "node:http"
import { startBerth } from "../fixtures/berthProcess.ts"
import { patience } from "../fixtures/patience.ts"
import { settingsFileWith } from "../fixtures/programs/service.ts"

const right = "token-of-ann-0123456789"
const settings = `http:\n  tokens:\n    - { name: Ann, token: ${right}, role: operator }\n`

interface Ask {
  readonly method: string
  readonly path: string
  readonly token: string
}

const logIn = (token: string): Ask => ({ method: "POST", path: "/api/session", token })
const withHeader = (path: string) => (token: string): Ask => ({ method: "GET", path, token })
const ways = [logIn, withHeader("/api/servers"), withHeader("/mcp"), withHeader("/api/health?deep=true")]

const statusOf = (url: string, agent: Agent, { method, path, token }: Ask) =>
  Effect.async<number>((resume) => {
    const isLogIn = method === "POST"
    const sent = send(`${url}${path}`, {
      agent,
      method,
      headers: isLogIn ? { "content-type": "application/json" } : { authorization: `Bearer ${token}` }
    }, (response) => {
      response.resume().on("end", () => resume(Effect.succeed(response.statusCode ?? 0)))
    })
    sent.on("error", () => resume(Effect.succeed(0)))
    sent.end(isLogIn ? JSON.stringify({ token }) : undefined)
    return Effect.sync(() => sent.destroy())
  })

describe("24 loops of wrong tokens from one address", () => {
  it.scopedLive("keep nobody out whose token is right, and get few answers", () =>
    Effect.gen(function*() {
      const { url } = yield* startBerth(yield* settingsFileWith(settings))
      const agentOf = Effect.acquireRelease(
        Effect.sync(() => new Agent({ keepAlive: true })),
        (agent) => Effect.sync(() => agent.destroy())
      )
      const [guessing, working] = [yield* agentOf, yield* agentOf]
      const answers = new Map<number, number>()
      const guess = (ask: Ask) =>
        Effect.map(
          statusOf(url, guessing, ask),
          (status) => void answers.set(status, (answers.get(status) ?? 0) + 1)
        )
      const startedAt = Date.now()
      for (let loop = 0; loop < 24; loop++) {
        const way = ways[loop % ways.length] ?? logIn
        yield* Effect.forkScoped(Effect.forever(guess(way(`wrong-token-of-loop-${loop}`))))
      }
      yield* Effect.sleep("2 seconds")
      const slowest: Array<number> = []
      for (const way of [logIn, withHeader("/api/servers")]) {
        const tries = Array.from({ length: 20 }, () =>
          Effect.gen(function*() {
            const before = Date.now()
            const status = yield* statusOf(url, working, way(right))
            slowest.push(Date.now() - before)
            return status
          }))
        expect(yield* Effect.all(tries)).toEqual(tries.map(() => 200))
      }
      expect(Math.max(...slowest)).toBeLessThan(500 * patience)
      // Some at once, then four at a time, each of which waits twice as long as the one before it.
      expect([...answers.keys()].sort()).toEqual([401, 429])
      expect(answers.get(401)).toBeLessThan(25 + (Date.now() - startedAt) / 1_000)
    }), 60_000 * patience)
})
