import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeWorld } from "../../src/sandbox/world.ts"
import { patience } from "../fixtures/patience.ts"
import { startService } from "../fixtures/programs/service.ts"

describe.skipIf(process.platform === "win32")(
  "GET /api/servers/{id}/stats/history",
  { timeout: 60_000 * patience },
  () => {
    it.scopedLive("samples a server that somebody looks at", () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        const { request } = yield* startService(world.settingsFile)
        const address = `/api/servers/${world.serverId}/stats/history`
        const first = yield* request("GET", address)
        expect(first.status).toBe(200)
        const point = {
          at: expect.stringMatching(/Z$/),
          load: { minute: expect.any(Number), processors: expect.any(Number) },
          memory: { totalBytes: expect.any(Number), freeBytes: expect.any(Number) },
          disks: [expect.objectContaining({ mountedOn: expect.any(String) })],
          containers: [{
            name: "greeter",
            service: "greeter",
            cpuPercent: 0,
            memoryBytes: 0,
            networkBytes: 0,
            blockBytes: 0
          }]
        }
        expect(first.body).toEqual({ everySeconds: 15, points: [point] })
        expect((yield* request("GET", `${address}?minutes=1`)).body).toEqual(first.body)
      }))

    it.scopedLive("refuses what it does not know", () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        const { request } = yield* startService(world.settingsFile)
        expect(yield* request("GET", "/api/servers/none/stats/history")).toMatchObject({ status: 404 })
        const address = `/api/servers/${world.serverId}/stats/history`
        for (const query of ["minutes=0", "minutes=61", "minutes=1.5", "minutes=x", "hours=1"]) {
          expect(yield* request("GET", `${address}?${query}`), query).toMatchObject({ status: 400 })
        }
        expect((yield* request("GET", `${address}?minutes=61`)).body).toEqual({
          error: expect.stringContaining("must be a whole number from 1 to 60")
        })
      }))
  }
)
