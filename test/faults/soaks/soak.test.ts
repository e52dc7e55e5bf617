import { describe, expect, it } from "@effect/vitest"
import { Clock, Config, Console, Effect, Ref, Schedule } from "effect"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { complaint, confinedService } from "../../fixtures/hostile/confined.ts"
import { addressOf, operations } from "../../fixtures/hostile/operations.ts"
import { liveHeap } from "../../fixtures/programs/heap.ts"

const heapGrowth = 40_000_000
const openFiles = () => existsSync("/proc/self/fd") ? readdirSync("/proc/self/fd").length : 0
/** The connections that a port serves now. */
const openConnections = (port: number) => {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`
  const lines = existsSync("/proc/net/tcp") ? readFileSync("/proc/net/tcp", "utf8").split("\n") : []
  return lines.map((line) => line.trim().split(/\s+/)).filter(([, at, , state]) =>
    at?.endsWith(local) && state === "01"
  ).length
}
const leftBelow = (directory: string) =>
  readdirSync(directory, { recursive: true }).map(String).filter((name) =>
    /\.lock(-|$)|\.tmp$|\.part$|[/\\]incoming$|^\.berth/.test(name)
  )

describe.skipIf(process.platform === "win32")("hours of mixed work", () => {
  it.scopedLive("leave no connection, channel, file, lock or memory behind", () =>
    Effect.gen(function*() {
      const minutes = yield* Config.withDefault(Config.number("BERTH_SOAK_MINUTES"), 0.5)
      const { forgetServer, request, secrets, sound, world } = yield* confinedService
      const done = yield* Ref.make(0)
      const one = (index: number) =>
        Effect.gen(function*() {
          const operation = operations[index % operations.length]
          if (operation === undefined) return []
          const parts = sound[operation.name] ?? {}
          const reply = yield* request(operation.method, addressOf(operation, parts), parts.body)
          yield* forgetServer(reply)
          yield* Ref.update(done, (count) => count + 1)
          const said = complaint(reply, secrets)
          return said === undefined ? [] : [`${operation.name}: ${said}`]
        })
      const round = Effect.map(
        Effect.forEach(operations, (_, index) => one(index), { concurrency: 6 }),
        (said) => said.flat()
      )
      // Values made once, such as warm connections and compiled schemas, are not a leak.
      const first = yield* round
      const heap = yield* liveHeap
      const files = openFiles()
      const end = (yield* Clock.currentTimeMillis) + minutes * 60_000
      const said: Array<string> = [...first]
      do said.push(...yield* round)
      while ((yield* Clock.currentTimeMillis) < end)

      expect(said).toEqual([])
      expect(openConnections(world.server.port)).toBeLessThanOrEqual(2)
      expect((yield* liveHeap) - heap).toBeLessThan(heapGrowth)
      // Idle HTTP connections, of which this process has both ends, close by themselves within seconds, and so does a look
      // at a server that nobody waits for.
      yield* Effect.sync(() => {
        expect(openFiles() - files).toBeLessThan(20)
        expect(leftBelow(world.projects)).toEqual([])
        expect(leftBelow(world.home)).toEqual([])
        expect(readdirSync(dirname(world.settingsFile)).filter((name) => /\.lock|\.tmp/.test(name))).toEqual([])
      }).pipe(
        Effect.sandbox,
        Effect.retry({ schedule: Schedule.spaced("1 second"), times: 60 })
      )
      // One of the requests removes what another one deploys.
      const deployed = readdirSync(join(world.home, "containers"))
      expect(deployed).toContain("greeter")
      expect(["greeter", "hello"]).toEqual(expect.arrayContaining(deployed))
      const count = yield* Ref.get(done)
      yield* Console.log(`soak: ${count} requests in ${minutes} minutes`)
    }), { timeout: 24 * 3_600_000 })
})
