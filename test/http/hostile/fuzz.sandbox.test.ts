import { describe, expect, it } from "@effect/vitest"
import { Config, Console, Duration, Effect } from "effect"
import { complaint, confinedService } from "../../fixtures/hostile/confined.ts"
import { type FuzzRequest, fuzzRequests } from "../../fixtures/hostile/fuzz.ts"
import { addressOf } from "../../fixtures/hostile/operations.ts"
import { liveHeap } from "../../fixtures/programs/heap.ts"
import { tellRan } from "../../fixtures/ran.ts"
import { inPart } from "../../fixtures/thorough.ts"

const answerTimeout = Duration.seconds(60)
const heapGrowth = 60_000_000

const shown = ({ operation, parts, rawBody }: FuzzRequest) =>
  `${operation.method} ${addressOf(operation, parts)} ${rawBody ?? JSON.stringify(parts.body) ?? ""}`.slice(0, 400)

describe.skipIf(process.platform === "win32")("requests made of the contract", () => {
  it.scopedLive(
    "get a declared answer in time, without a stack or a secret, and the service lives on",
    (context) =>
      Effect.gen(function*() {
        const seed = yield* Config.withDefault(Config.integer("BERTH_FUZZ_SEED"), Date.now() % 2 ** 31)
        const count = yield* Config.withDefault(Config.integer("BERTH_FUZZ_REQUESTS"), inPart(500, 80))
        yield* Console.log(`fuzz: ${count} requests, BERTH_FUZZ_SEED=${seed}`)
        const { forgetServer, request, secrets, sound, strayCalls } = yield* confinedService
        const requests = fuzzRequests(sound, seed, count)
        const run = (some: ReadonlyArray<FuzzRequest>) =>
          Effect.forEach(some, (each) => {
            const { operation, parts, rawBody } = each
            return request(operation.method, addressOf(operation, parts), rawBody ?? JSON.stringify(parts.body)).pipe(
              Effect.tap(forgetServer),
              Effect.map((reply) => complaint(reply, secrets)),
              Effect.timeoutTo({ duration: answerTimeout, onSuccess: (said) => said, onTimeout: () => "no answer" }),
              Effect.map((said) => said === undefined ? [] : [`${shown(each)}: ${said}`])
            )
          }, { concurrency: 8 })

        const warm = Math.ceil(requests.length / 4)
        const first = yield* run(requests.slice(0, warm))
        const before = yield* liveHeap
        const rest = yield* run(requests.slice(warm))
        const grown = (yield* liveHeap) - before

        expect([...first, ...rest].flat(), `BERTH_FUZZ_SEED=${seed}`).toEqual([])
        expect(yield* strayCalls).toEqual([])
        expect((yield* request("GET", "/api/health")).body).toMatchObject({ status: "ok" })
        expect(grown).toBeLessThan(heapGrowth)
        tellRan(context, { what: "fuzz requests", count: requests.length, by: `BERTH_FUZZ_SEED=${seed}` })
      }),
    { timeout: 900_000 }
  )
})
