import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { formatBytes } from "../../../src/schema/words.ts"
import { layeredImage } from "../../fixtures/docker/layeredImage.ts"
import { isComplete, measuredLine, megabyte } from "../../fixtures/docker/measuredLine.ts"
import { realServer } from "../../fixtures/docker/realProject.ts"
import { patience } from "../../fixtures/patience.ts"
import { inTurn } from "../../fixtures/thorough.ts"

// The later containerd store takes all forms as the earlier one does: dockerLoad tries each there.
const forms = process.env["BERTH_TEST_ENGINE"] === "engine28"
  ? ["plain"] as const
  : ["plain", "gzip", "pulled"] as const

describe.skipIf(!realServer.available)(
  realServer.title("what goes over the line"),
  { timeout: 300_000 * patience },
  () => {
    for (const form of inTurn<(typeof forms)[number]>(forms, 1)) {
      it.scopedLive(`is all of a first deploy, what changed of the next, and nothing of an older release (${form} layers)`, () =>
        Effect.gen(function*() {
          const { berth, bring, deployed, image, name } = yield* measuredLine({ useSudo: form === "gzip" })
          const base = randomBytes(60 * megabyte)
          const [one, two] = [0, 1].map(() => layeredImage(name, [base, randomBytes(300_000)], form))
          if (one === undefined || two === undefined) return
          yield* Effect.gen(function*() {
            yield* bring(one)
            const first = yield* deployed
            expect(first.sent).toBeGreaterThan(60 * megabyte)
            expect(Math.abs(first.sent - first.planned)).toBeLessThan(0.5 * megabyte)
            yield* isComplete(image, 3)

            yield* bring(two)
            const second = yield* deployed
            expect(second.sent).toBeLessThan(1.2 * megabyte)
            expect(second.sent).toBeGreaterThan(second.planned)
            expect(second.planned).toBeGreaterThan(300_000)
            expect(second.message).toContain(`Sent ${formatBytes(second.planned)} of 6`)
            yield* isComplete(image, 3)

            yield* bring(one)
            const older = yield* deployed
            expect(older.planned).toBe(0)
            expect(older.message).toContain("had to be sent")
            expect(older.sent).toBeLessThan(0.1 * megabyte)
            yield* isComplete(image, 3)
          }).pipe(Effect.provide(berth))
        }))
    }
  }
)
