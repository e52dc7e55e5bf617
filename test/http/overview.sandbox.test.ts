import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { createServer, type Server } from "node:net"
import { join } from "node:path"
import { makeWorld } from "../../src/sandbox/world.ts"
import { patience } from "../fixtures/patience.ts"
import { startService } from "../fixtures/programs/service.ts"

const must = <A>(make: () => Promise<A>) => Effect.promise(make)

/** A port that takes connections and never says a word. */
const mute = Effect.acquireRelease(
  Effect.async<Server>((resume) => {
    const server = createServer((socket) => socket.on("error", () => undefined))
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => server.close())
).pipe(Effect.map((server) => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}))

describe.skipIf(process.platform === "win32")("GET /api/overview", { timeout: 60_000 * patience }, () => {
  it.scopedLive("tells projects, applications and servers, and of a server that hangs that it does", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const port = yield* mute
      const settings = yield* must(() => readFile(world.settingsFile, "utf8"))
      const hung = `servers:\n  - { id: hung, name: Hung, host: 127.0.0.1, port: ${port}, username: u, password: p }\n`
      yield* must(() => writeFile(world.settingsFile, settings.replace("servers:\n", hung)))
      const hello = join(world.projects, "hello")
      yield* must(() =>
        writeFile(
          join(hello, "container.json"),
          JSON.stringify({ serverId: world.serverId, remotePath: "~/containers/greeter" })
        )
      )
      yield* must(() => mkdir(join(world.home, "containers", "greeter", ".berth"), { recursive: true }))
      yield* must(() => writeFile(join(world.home, "containers", "greeter", ".berth", "current"), "r-1\n"))
      const { request } = yield* startService(world.settingsFile)
      const started = performance.now()
      const [one, other] = yield* Effect.all([request("GET", "/api/overview"), request("GET", "/api/overview")], {
        concurrency: 2
      })
      expect(performance.now() - started).toBeLessThan(25_000)
      expect(one.status).toBe(200)
      expect(one.body).toMatchObject({
        errors: [],
        ageMs: expect.any(Number),
        servers: [
          { id: "hung", answers: false, latencyMs: null, error: expect.stringContaining("no answer within") },
          { id: "sandbox", answers: true, latencyMs: expect.any(Number) }
        ],
        projects: [
          {
            name: "hello",
            path: hello,
            run: null,
            servers: [{ serverId: "sandbox", state: "running", containers: { up: 1, total: 1 }, release: "r-1" }]
          },
          { name: "notes" }
        ],
        applications: expect.arrayContaining([
          expect.objectContaining({ name: "hello", projectPath: hello, uuid: null, drift: null }),
          expect.objectContaining({ name: "greeter", projectPath: null, uuid: expect.any(String) })
        ])
      })
      const observedAt = ({ body }: typeof one) => JSON.stringify(body).match(/"observedAt":"([^"]+)"/)?.[1]
      expect(observedAt(other)).toBe(observedAt(one))
    }))
})
