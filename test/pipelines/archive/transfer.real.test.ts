import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { readImageArchive } from "../../../src/pipelines/archive/images.ts"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { planContainers } from "../../../src/pipelines/deploy/plan.ts"
import { formatBytes } from "../../../src/schema/words.ts"
import type { SettingsFixture } from "../../../src/testing/SettingsTest.ts"
import { containerdKeepsImages, docker } from "../../fixtures/docker/docker.ts"
import { layeredImage } from "../../fixtures/docker/layeredImage.ts"
import { berth, onServer, project, realServer } from "../../fixtures/docker/realProject.ts"
import { openRelay, type RelayOptions } from "../../fixtures/network/relay.ts"
import { patience } from "../../fixtures/patience.ts"
import { inTurn } from "../../fixtures/thorough.ts"
import { eventually } from "../../sandbox/eventually.ts"

const must = <A>(make: () => Promise<A>) => Effect.promise(make)
const megabyte = 1_000_000
const isContainerd = realServer.available && containerdKeepsImages()

interface SceneOptions extends RelayOptions {
  readonly useSudo?: boolean
  readonly settings?: SettingsFixture
}

/** A server behind a line whose bytes are counted, and a project of one service that is deployed there. */
const scene = ({ settings, useSudo = false, ...line }: SceneOptions = {}) =>
  Effect.gen(function*() {
    const { server } = yield* onServer(useSudo)
    const relay = yield* openRelay(server.port, line)
    const { archive, compose, directory, image, name } = yield* project
    yield* compose([`image: ${image}`, "network_mode: none", "stop_signal: SIGKILL"])
    const request = { projectPath: directory, serverId: server.id, remotePath: `~/containers/${name}` }
    const bring = (bytes: Uint8Array) => must(() => writeFile(archive, bytes))
    /** Deploys what lies there, and answers what the plan said, what the result says and what went over the line. */
    const deployed = Effect.gen(function*() {
      const plan = yield* planContainers(request)
      const before = yield* relay.up
      const result = yield* deploy(request)
      expect(result).toMatchObject({ success: true, healthy: true })
      return { planned: plan.bytesToSend, message: result.message, sent: (yield* relay.up) - before }
    })
    return { berth: berth({ ...server, port: relay.port }, settings), bring, deployed, image, name }
  })

/** Fails unless what `docker save` writes of an image has each of its layers. */
const isComplete = (image: string, layers: number) =>
  Effect.gen(function*() {
    const directory = yield* Effect.acquireRelease(
      must(() => mkdtemp(join(tmpdir(), "berth-saved-"))),
      (path) => must(() => rm(path, { recursive: true, force: true }))
    )
    yield* docker("save", "-o", join(directory, "image.tar"), image)
    const saved = yield* readImageArchive(join(directory, "image.tar"))
    expect(saved.images.map((image) => [image.layers.length, Option.isSome(image.layout)])).toEqual([[layers, true]])
    // The server removes them after the deploy's answer.
    const names = docker("image", "inspect", "--format", "{{.RepoTags}}", image)
    yield* eventually(Effect.map(names, (all) => !all.includes("berth/incoming")))
  }).pipe(Effect.scoped)

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
          const { berth, bring, deployed, image, name } = yield* scene({ useSudo: form === "gzip" })
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

    const asItIs = (bytes: Buffer) => bytes
    const others = [["gzip", "plain", asItIs], ["plain", "gzip", asItIs], ["gzip", "plain", gzipSync]] as const
    for (const [there, comes, pack] of inTurn<(typeof others)[number]>(others, 0)) {
      const packed = pack === gzipSync ? "packed " : ""
      it.scopedLive(`is complete where the server has the ${packed}${comes} base in another form (${there})`, () =>
        Effect.gen(function*() {
          const { berth, bring, deployed, image, name } = yield* scene()
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

    it.scopedLive("stays complete when the release that brought its lower layers is forgotten", () =>
      Effect.gen(function*() {
        const { berth, bring, deployed, image, name } = yield* scene({ settings: { "deploy.keepReleases": 1 } })
        const base = randomBytes(3 * megabyte)
        yield* Effect.gen(function*() {
          for (const number of [1, 2, 3]) {
            yield* bring(layeredImage(name, [base, randomBytes(50_000)], "plain"))
            const { sent } = yield* deployed
            if (number > 1) expect(sent).toBeLessThan(0.5 * megabyte)
            // Has containerd's garbage collected, too.
            yield* docker("image", "prune", "-f")
            yield* isComplete(image, 3)
          }
        }).pipe(Effect.provide(berth))
      }))

    it.scopedLive("is compressed where the line is slow and the layers are not", () =>
      Effect.gen(function*() {
        const { berth, bring, deployed, image, name } = yield* scene({ upBytesPerSecond: 10 * megabyte })
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
