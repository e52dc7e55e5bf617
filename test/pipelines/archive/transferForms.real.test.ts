import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { gzipSync } from "node:zlib"
import { containerdKeepsImages, docker } from "../../fixtures/docker/docker.ts"
import { layeredImage } from "../../fixtures/docker/layeredImage.ts"
import { isComplete, measuredLine, megabyte } from "../../fixtures/docker/measuredLine.ts"
import { realServer } from "../../fixtures/docker/realProject.ts"
import { patience } from "../../fixtures/patience.ts"
import { inTurn } from "../../fixtures/thorough.ts"

const isContainerd = realServer.available && containerdKeepsImages()

describe.skipIf(!realServer.available)(
  realServer.title("what goes over the line to a store with another form of it"),
  { timeout: 300_000 * patience },
  () => {
    const asItIs = (bytes: Buffer) => bytes
    const others = [["gzip", "plain", asItIs], ["plain", "gzip", asItIs], ["gzip", "plain", gzipSync]] as const
    for (const [there, comes, pack] of inTurn<(typeof others)[number]>(others, 0)) {
      const packed = pack === gzipSync ? "packed " : ""
      it.scopedLive(`is complete where the server has the ${packed}${comes} base in another form (${there})`, () =>
        Effect.gen(function*() {
          const { berth, bring, deployed, image, name } = yield* measuredLine()
          const base = randomBytes(5 * megabyte)
          const version = (form: typeof there) => {
            const archive = layeredImage(name, [base, randomBytes(100_000)], form)
            return form === comes ? pack(archive) : archive
          }
          yield* Effect.gen(function*() {
            yield* bring(version(there))
            yield* deployed
            yield* bring(version(comes))
            const other = yield* deployed
            yield* isComplete(image, 3)
            // Containerd's store notices that the base is not there in this form, and gets it in both.
            if (isContainerd) expect(other.sent).toBeGreaterThan(5 * megabyte)
            for (const form of [comes, there]) {
              yield* bring(version(form))
              expect((yield* deployed).sent).toBeLessThan(megabyte)
              yield* isComplete(image, 3)
            }
          }).pipe(Effect.provide(berth))
        }))
    }

    it.scopedLive("is an OCI layout of Podman under the name that the compose file has, and its parts later on", () =>
      Effect.gen(function*() {
        const { berth, bring, deployed, image, name } = yield* measuredLine()
        const base = randomBytes(2 * megabyte)
        const versions = [1, 2].map(() => layeredImage(name, [base, randomBytes(50_000)], "podman"))
        yield* Effect.gen(function*() {
          for (const [version, most] of [[0, 6], [1, 0.5], [0, 0.2]] as const) {
            yield* bring(versions[version] ?? Buffer.alloc(0))
            expect((yield* deployed).sent).toBeLessThan(most * megabyte)
            yield* isComplete(image, 3)
          }
          // Podman's name for it stays out of the server.
          expect(yield* docker("image", "ls", "-q", `localhost/${name}`)).toBe("")
        }).pipe(Effect.provide(berth))
      }))

    it.scopedLive("stays complete when the release that brought its lower layers is forgotten", () =>
      Effect.gen(function*() {
        const { berth, bring, deployed, image, name } = yield* measuredLine({ settings: { "deploy.keepReleases": 1 } })
        const base = randomBytes(3 * megabyte)
        yield* Effect.gen(function*() {
          for (const number of [1, 2, 3]) {
            yield* bring(layeredImage(name, [base, randomBytes(50_000)], "plain"))
            const { sent } = yield* deployed
            if (number > 1) expect(sent).toBeLessThan(0.5 * megabyte)
            // Has containerd's garbage collected. Elsewhere it would take the layers of a build that goes on beside it.
            if (isContainerd) yield* docker("image", "prune", "-f")
            yield* isComplete(image, 3)
          }
        }).pipe(Effect.provide(berth))
      }))

    it.scopedLive("is compressed where the line is slow and the layers are not", () =>
      Effect.gen(function*() {
        // So slow that a busy processor makes no difference: which line is slow is decided in compression.test.ts.
        const { berth, bring, deployed, image, name } = yield* measuredLine({ upBytesPerSecond: 3 * megabyte })
        const text = Buffer.alloc(20 * megabyte, randomBytes(2_000).toString("hex"))
        yield* Effect.gen(function*() {
          yield* bring(layeredImage(name, [text], "plain"))
          const { message, planned, sent } = yield* deployed
          expect(planned).toBeGreaterThan(20 * megabyte)
          // Among it, what the line was measured with.
          expect(sent).toBeLessThan(6 * megabyte)
          expect(message).toMatch(/Sent [1-3]\.\d MB of 2\d/)
          yield* isComplete(image, 2)
          yield* bring(layeredImage(name, [text, randomBytes(9 * megabyte)], "plain"))
          expect((yield* deployed).message).toMatch(/Sent 9\.\d MB of 3\d/)
          yield* isComplete(image, 3)
        }).pipe(Effect.provide(berth))
      }))
  }
)
