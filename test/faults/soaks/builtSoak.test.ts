import { describe, expect, it } from "@effect/vitest"
import { Clock, Config, Console, Effect, Schedule } from "effect"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { makeConfinedWorld } from "../../../src/sandbox/world.ts"
import { startBerth } from "../../fixtures/berthProcess.ts"
import { requestTo } from "../../sandbox/request.ts"

const packed = fileURLToPath(new URL("../../../dist/service/berth.js", import.meta.url))
// Memory grows by up to 60 MB until a garbage collection, and afterwards stays at half of that.
const growth = 80_000

/** Resources of a process: resident memory in kB, open files and sockets, and connections to a port. */
const heldBy = (pid: number, port: number) => {
  const field = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1])
  const remote = `:${port.toString(16).toUpperCase().padStart(4, "0")}`
  const sockets = readFileSync(`/proc/${pid}/net/tcp`, "utf8").split("\n").map((line) => line.trim().split(/\s+/))
  return {
    memory: field("VmRSS"),
    threads: field("Threads"),
    handles: readdirSync(`/proc/${pid}/fd`).length,
    connections: sockets.filter(([, , to, state]) => to?.endsWith(remote) && state === "01").length
  }
}

describe.skipIf(!existsSync("/proc/self/status"))("an hour's work in miniature", () => {
  it.scopedLive(
    "leaves the service as it is built with the memory, handles and connections that it had",
    () =>
      Effect.gen(function*() {
        const minutes = yield* Config.withDefault(Config.number("BERTH_SOAK_MINUTES"), 0.5)
        const world = yield* makeConfinedWorld
        const { pid, url } = yield* startBerth(world.settingsFile, [packed])
        const request = requestTo(url, { "content-type": "application/json" })
        const projectPath = join(world.projects, "hello")
        const server = `/api/servers/${world.serverId}`
        const deploy = { projectPath, serverId: world.serverId, remotePath: "~/containers/hello" }

        /** A caller who asks and goes away before the answer. */
        const cut = (path: string, body?: unknown) =>
          Effect.promise(() =>
            fetch(`${url}${path}`, {
              signal: AbortSignal.timeout(15),
              ...body === undefined ? {} : {
                method: "POST",
                headers: { "content-type": "application/json" },
                body: JSON.stringify(body)
              }
            }).then((response) => response.text()).catch(() => undefined)
          )
        const status = (wanted: ReadonlyArray<number>, method: string, path: string, body?: unknown) =>
          Effect.map(request(method, path, body), (reply) =>
            wanted.includes(reply.status)
              ? []
              : [`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body).slice(0, 300)}`])
        const round = Effect.map(
          Effect.all([
            status([200], "POST", "/api/container/deploy", deploy),
            ...[
              "/api/health",
              "/api/projects",
              "/api/servers",
              `${server}/scan`,
              `${server}/containers`,
              "/api/platform/apps"
            ]
              .map((path) => status([200], "GET", path)),
            status([200], "GET", `${server}/logs?containerName=greeter&lines=20`),
            status([200], "POST", "/api/platform/drift", { projectPath }),
            status([404], "GET", "/api/servers/none/scan"),
            status([400], "POST", "/api/container/deploy", { ...deploy, remotePath: "../out" }),
            status([400], "POST", "/api/container/deploy", "{"),
            ...[`${server}/scan`, `${server}/logs?containerName=greeter`, "/api/platform/apps"]
              .map((path) => Effect.as(cut(path), [])),
            Effect.as(cut("/api/platform/drift", { projectPath }), [])
          ], { concurrency: 6 }),
          (said) => said.flat()
        )
        // Values made once, such as warm connections and compiled code, are not a leak.
        const said: Array<string> = [...yield* round, ...yield* round, ...yield* round]
        const end = (yield* Clock.currentTimeMillis) + minutes * 60_000
        const before = heldBy(pid, world.server.port)
        let rounds = 0
        do {
          said.push(...yield* round)
          rounds++
        } while ((yield* Clock.currentTimeMillis) < end)
        expect([...new Set(said)]).toEqual([])
        // Idle HTTP connections close by themselves within seconds, and the collector takes its time.
        const after = yield* Effect.sync(() => {
          const held = heldBy(pid, world.server.port)
          expect(held.connections).toBeLessThanOrEqual(2)
          expect(held.handles).toBeLessThanOrEqual(before.handles + 5)
          expect(held.threads).toBeLessThanOrEqual(before.threads + 4)
          expect(held.memory - before.memory).toBeLessThan(growth)
          return held
        }).pipe(Effect.sandbox, Effect.retry({ schedule: Schedule.spaced("1 second"), times: 20 }))
        yield* Console.log(
          `soak of the built service: ${rounds} rounds, ${before.memory} kB before and ${after.memory} kB after`
        )
      }),
    { timeout: 24 * 3_600_000 }
  )
})
