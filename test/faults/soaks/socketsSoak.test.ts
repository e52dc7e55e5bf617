import { describe, expect, it } from "@effect/vitest"
import { Clock, Config, Console, Effect, Fiber, Schedule } from "effect"
import { existsSync, readdirSync } from "node:fs"
import { connect } from "node:net"
import { patience } from "../../fixtures/patience.ts"
import { liveHeap } from "../../fixtures/programs/heap.ts"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"

const host = (port: number) => `Host: localhost:${port}\r\n`
const post = (port: number, length: number) =>
  `POST /api/servers HTTP/1.1\r\n${host(port)}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`

/** Bytes that a caller sends before it breaks off. */
const hostile: ReadonlyArray<readonly [what: string, sent: (port: number) => string]> = [
  [
    "an upgrade",
    (port) => `GET /api/health HTTP/1.1\r\n${host(port)}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`
  ],
  [
    "an upgrade for a foreign name",
    () => "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
  ],
  ["pipelined requests", (port) => `GET /api/health HTTP/1.1\r\n${host(port)}\r\n`.repeat(20)],
  ["too many pipelined requests", () => "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n".repeat(100)],
  ["half a request", (port) => `GET /api/health HTTP/1.1\r\n${host(port)}X-Half: `],
  ["half a body", (port) => `${post(port, 1_000)}{"name":`],
  ["deep JSON", (port) => `${post(port, 20_000)}${"[".repeat(20_000)}`],
  ["what is not HTTP", () => "\u0016\u0003\u0001 hello\r\n\r\n"]
]

const cut = (port: number, text: string) =>
  Effect.async<void>((resume) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text, () => socket.resetAndDestroy()))
    socket.on("error", () => undefined).on("close", () => resume(Effect.void))
  })

const openFiles = () => existsSync("/proc/self/fd") ? readdirSync("/proc/self/fd").length : 0

describe("sockets that are cut", () => {
  it.scopedLive("leave memory and files where they were, while health answers at once", () =>
    Effect.gen(function*() {
      const each = Math.ceil((yield* Config.withDefault(Config.number("BERTH_SOAK_SOCKETS"), 10_000)) / hostile.length)
      const { port, request } = yield* startService(yield* settingsFileWith(""))
      const attack = (text: string, times: number) =>
        Effect.forEach(Array.from({ length: times }), () => cut(port, text), { concurrency: 20, discard: true })
      // Values made once, such as compiled schemas, are not a leak.
      for (const [, sent] of hostile) yield* attack(sent(port), 40)
      yield* request("GET", "/api/health")
      const heap = yield* liveHeap
      const files = openFiles()
      const slowest: Array<string> = []
      for (const [what, sent] of hostile) {
        const attacking = yield* Effect.fork(attack(sent(port), each))
        const latencies: Array<number> = []
        while ((yield* Fiber.poll(attacking))._tag === "None") {
          const before = yield* Clock.currentTimeMillis
          expect((yield* request("GET", "/api/health")).status).toBe(200)
          latencies.push((yield* Clock.currentTimeMillis) - before)
          yield* Effect.sleep("50 millis")
        }
        // It is 60 ms where the machine does nothing else; both ends of every socket are in this process.
        const usual = latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * 0.95)] ?? 0
        expect(usual, what).toBeLessThan(400 * patience)
        slowest.push(`${what} ${usual} ms`)
      }
      yield* Effect.retry(
        Effect.sandbox(Effect.map(liveHeap, (now) => {
          expect(now - heap).toBeLessThan(15_000_000)
          expect(openFiles() - files).toBeLessThan(20)
        })),
        { schedule: Schedule.spaced("1 second"), times: 40 }
      )
      yield* Console.log(`health while sockets are cut: ${slowest.join(", ")}`)
    }), 300_000 * patience)
})
