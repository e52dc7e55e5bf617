import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Either, Fiber } from "effect"
import { gzipSync } from "node:zlib"
import { entangledArchives, refusedArchives } from "../../fixtures/hostile/archives.ts"
import { patience } from "../../fixtures/patience.ts"
import { inPart } from "../../fixtures/thorough.ts"
import { readArchive } from "./archiveOf.ts"

describe("an archive with", () => {
  const cases = refusedArchives.flatMap(([shape, build]) => [[shape, "plain", build], [shape, "gzip", build]] as const)
  // The long ones take seconds in either packing.
  it.live.each(inPart(cases, cases.filter(([shape]) => !/00,00|headers of headers/.test(shape))))(
    "%s, %s, is refused soon and in little memory",
    ([, packing, build]) =>
      Effect.gen(function*() {
        const tar = Buffer.concat([build(), ...packing === "gzip" ? [Buffer.alloc(1024)] : []])
        const bytes = packing === "gzip" ? gzipSync(tar) : tar
        const before = process.memoryUsage()
        const [elapsed, read] = yield* Effect.timed(Effect.either(readArchive(bytes)))
        const after = process.memoryUsage()
        expect(Either.isLeft(read)).toBe(true)
        expect(Duration.toSeconds(elapsed)).toBeLessThan(20 * patience)
        // Garbage that is not collected yet counts too; without limits it would be gigabytes.
        expect((after.heapUsed - before.heapUsed) / 1024 / 1024).toBeLessThan(900)
      }),
    60_000
  )
})

describe("an archive that refers to its own parts over and over", () => {
  it.live.each(entangledArchives)(
    "is read or refused soon, and stops nothing else meanwhile: %s",
    ([, build]) =>
      Effect.gen(function*() {
        const bytes = build()
        expect(gzipSync(bytes).length).toBeLessThan(3 * 1024 * 1024)
        let longest = 0
        const watch = Effect.gen(function*() {
          const before = performance.now()
          yield* Effect.sleep("5 millis")
          longest = Math.max(longest, performance.now() - before)
        })
        const watching = yield* Effect.fork(Effect.forever(watch))
        const [elapsed] = yield* Effect.timed(Effect.either(readArchive(bytes)))
        yield* Fiber.interrupt(watching)
        expect([Duration.toSeconds(elapsed) < 20 * patience, longest < 2_000 * patience]).toEqual([true, true])
      }),
    60_000
  )
})
