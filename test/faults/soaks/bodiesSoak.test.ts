import { describe, expect, it } from "@effect/vitest"
import { Config, Console, Effect, Schedule } from "effect"
import { cutBodies, cutOff, cuts } from "../../fixtures/network/cutBodies.ts"
import { patience } from "../../fixtures/patience.ts"
import { liveHeap } from "../../fixtures/programs/heap.ts"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"

const token = "Authorization: Bearer open-sesame\r\n"
/** An address of each kind, with the headers that send a caller there. */
const addresses: ReadonlyArray<readonly [line: string, headers: string]> = [
  ["POST /api/session", ""],
  ["POST /api/servers", ""],
  ["POST /api/servers", token],
  ["POST /api/container/deploy", `${token}Idempotency-Key: again\r\n`],
  ["POST /api/container/build", token],
  ["PATCH /api/platform/apps/1", token],
  ["DELETE /api/servers/1", token],
  ["POST /api/runs/1/cancel", token],
  ["POST /mcp", token],
  ["GET /api/health", ""],
  ["GET /api/runs", token],
  ["POST /none", ""],
  ["POST /none", token]
]

const requests = (port: number) =>
  addresses.flatMap(([line, headers]) =>
    cutBodies.flatMap(([, rest]) => {
      const head = `${line} HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\n${headers}`
      const before = `GET /api/health HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`
      return cuts.flatMap((how) => [[`${head}${rest}`, how], [`${before}${head}${rest}`, how]] as const)
    })
  )

const memory = Effect.map(liveHeap, (heap) => heap + process.memoryUsage().arrayBuffers)

describe("bodies that are cut off", () => {
  it.scopedLive(
    "leave memory where it was, whatever their shape, and the service answers on",
    () =>
      Effect.gen(function*() {
        const times = yield* Config.withDefault(Config.integer("BERTH_SOAK_BODIES"), 1_600)
        const { port, request } = yield* startService(yield* settingsFileWith("http:\n  token: open-sesame\n"))
        const all = requests(port)
        const send = (count: number) =>
          Effect.forEach(
            Array.from({ length: count }, (_, index) => all[index % all.length]),
            (one) => one === undefined ? Effect.void : cutOff(port, one[0], one[1]),
            { concurrency: 50, discard: true }
          )
        const healthy = Effect.map(
          request("GET", "/api/health", undefined, { authorization: "Bearer open-sesame" }),
          ({ status }) => expect(status).toBe(200)
        )
        // Values made once, such as compiled schemas, are not a leak.
        yield* send(all.length)
        yield* healthy
        const before = yield* memory
        yield* send(times)
        yield* healthy
        // One that is kept costs 20 to 60 kB.
        const grown = yield* Effect.retry(
          Effect.sandbox(Effect.map(memory, (now) => {
            expect(now - before).toBeLessThan(4_000_000 + times * 300)
            return now - before
          })),
          { schedule: Schedule.spaced("1 second"), times: 10 }
        )
        yield* Console.log(`soak: ${times} bodies that are cut off, memory grew by ${Math.round(grown / 1000)} kB`)
      }),
    300_000 * patience
  )
})
