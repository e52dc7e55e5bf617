import { Effect, Redacted } from "effect"
import type { Scope } from "effect"
import { makePlatformDouble } from "../../src/sandbox/platformDouble.ts"
import { openLine } from "../line.ts"
import { median, millis } from "../numbers.ts"
import type { Section } from "../report.ts"
import { startService } from "../service.ts"

const delay = { roundTripMillis: 20, bitsPerSecond: 1_000_000_000 }
const counts = [1, 30, 300, 1_000]

const token = "bench"

const listing = (
  directory: string,
  count: number,
  rounds: number
): Effect.Effect<number, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const applications = Array.from({ length: count }, (_, index) => ({
      name: `app-${index}`,
      envs: { HOST_PORT: String(2_007 + index) }
    }))
    const platform = yield* makePlatformDouble({ token: Redacted.make(token), seed: { applications } })
    const line = yield* openLine(Number(new URL(platform.url).port), delay)
    const service = yield* startService(directory, {
      platform: { url: `http://127.0.0.1:${line.port}`, token },
      servers: []
    })
    const list = async () => {
      const began = performance.now()
      const apps = await service.get("/api/platform/apps")
      if (!Array.isArray(apps) || apps.length !== count) throw new Error("not every application was listed")
      return performance.now() - began
    }
    return yield* Effect.promise(async () => {
      await list()
      const took: Array<number> = []
      for (let round = 0; round < rounds; round++) took.push(await list())
      return median(took)
    })
  })

/** Applications listed with their ports, behind a platform that is 20 ms away; the time of 300 is compared with a goal. */
export const applications = (directory: string, rounds: number) =>
  Effect.gen(function*() {
    const took = new Map<number, number>()
    for (const count of counts) took.set(count, yield* Effect.scoped(listing(directory, count, rounds)))
    const section: Section = {
      title: "Applications listed with their variables, behind a platform 20 ms away",
      columns: ["applications", "time", "round trips"],
      rows: [...took].map(([count, time]) => [String(count), millis(time), (time / delay.roundTripMillis).toFixed(1)])
    }
    return { section, of300: took.get(300) ?? Number.NaN }
  })
