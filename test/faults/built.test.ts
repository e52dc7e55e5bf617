import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { startBerth } from "../fixtures/berthProcess.ts"
import { settingsFileWith } from "../fixtures/service.ts"
import { requestTo } from "../sandbox/request.ts"

const packed = fileURLToPath(new URL("../../dist/service/berth.js", import.meta.url))

it.scopedLive(
  "the service as it is built answers, shows its reference, and ends cleanly",
  () =>
    Effect.gen(function*() {
      const berth = yield* startBerth(yield* settingsFileWith("# nothing\n"), [packed])
      const request = requestTo(berth.url, {})
      expect(yield* request("GET", "/api/health")).toMatchObject({ status: 200, body: { status: "ok" } })
      expect(yield* request("GET", "/api/servers")).toMatchObject({ status: 200, body: [] })
      const described = yield* request("GET", "/openapi.json")
      expect(described.body).toMatchObject({ openapi: "3.1.0", info: { version: "2.0.0" } })
      const page = yield* request("GET", "/reference")
      expect(page.status).toBe(200)
      // The page brings its script along.
      expect(String(page.body).length).toBeGreaterThan(1_000_000)
      expect(berth.output()).not.toMatch(/\n\s+at |Warning/)
      yield* berth.kill("SIGTERM")
      expect((yield* berth.ended).signal).toBeNull()
    }),
  60_000
)
