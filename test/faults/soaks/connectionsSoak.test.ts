import { describe, expect, it } from "@effect/vitest"
import { Config, Console, Effect, Exit, Stream } from "effect"
import { Sftp } from "../../../src/services/ssh/Sftp.ts"
import { Ssh } from "../../../src/services/ssh/Ssh.ts"
import { fakeSsh } from "../../fixtures/network/fakeSsh.ts"
import { liveHeap } from "../../fixtures/programs/heap.ts"
import { command, eventually, liveSsh } from "../../services/ssh/live.ts"

/** A connection that is kept costs 60 to 90 kB; what the collector leaves lying about is less than these in all. */
const heapGrowth = (connections: number) => 3_000_000 + connections * 5_000

const handles = Effect.sync(() => process.getActiveResourcesInfo().filter((name) => /TCP|Timeout/.test(name)).length)

describe("connections that break", () => {
  it.scopedLive("leave no memory, handle, channel or connection behind", () =>
    Effect.gen(function*() {
      const times = yield* Config.withDefault(Config.integer("BERTH_SOAK_CONNECTIONS"), 100)
      const { exec, spawn } = yield* Ssh
      const { session } = yield* Sftp
      // Its commands end, except those that hang until the connection is cut.
      const server = yield* fakeSsh({
        exec: (channel, text) => {
          if (text.includes("hang")) return
          channel.exit(0)
          channel.end()
        },
        sftp: () => undefined
      })
      const breakOne = Effect.gen(function*() {
        yield* exec(server.access, command("true"))
        // One connection with a command, a process and a file transfer on it when it breaks.
        const open = Effect.all([
          exec(server.access, command("hang")),
          Effect.flatMap(spawn(server.access, command("hang")), ({ exit }) => exit),
          Effect.flatMap(session(server.access), ({ list }) => Stream.runDrain(list("/")))
        ], { concurrency: "unbounded", mode: "either", discard: true })
        yield* Effect.all([
          Effect.exit(Effect.scoped(open)),
          Effect.delay(server.cut, "5 millis")
        ], { concurrency: 2 })
      })
      const connect = { ...server.access, port: 1 }
      const round = (count: number) =>
        Effect.forEach(Array.from({ length: count }), () =>
          Effect.zipRight(breakOne, Effect.exit(exec(connect, command("true")))), { discard: true })

      // Values made once are not a leak.
      yield* round(20)
      const [heap, before] = yield* Effect.all([liveHeap, handles])
      yield* round(times)

      expect(yield* server.made).toBeGreaterThanOrEqual(times)
      yield* eventually(server.open, (open) =>
        open === 0)
      yield* eventually(handles, (now) =>
        now <= before + 2)
      // All four channels of the next connection are to be had.
      const four = Array.from({ length: 4 }, () => exec(server.access, command("true")))
      const exits = yield* Effect.forEach(four, Effect.exit, { concurrency: 4 })
      expect(exits.filter(Exit.isSuccess)).toHaveLength(4)
      expect(yield* server.open).toBe(1)
      const grown = (yield* liveHeap) - heap
      yield* Console.log(`soak: ${times} broken connections, the heap grew by ${Math.round(grown / 1000)} kB`)
      expect(grown).toBeLessThan(heapGrowth(times))
    }).pipe(Effect.provide(liveSsh())), { timeout: 3_600_000 })
})
