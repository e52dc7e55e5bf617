import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { compare } from "../../src/pipelines/compare.ts"
import { scene } from "../fixtures/docker/deployScene.ts"
import { patience } from "../fixtures/patience.ts"
import { inTurn } from "../fixtures/thorough.ts"

const staged = (options?: Parameters<typeof scene>[0]) =>
  Effect.map(scene(options), (all) => ({
    ...all,
    compared: Effect.provide(
      compare({ projectPath: all.directory, serverId: "1", remotePath: "~/containers/shop" }),
      all.berth
    )
  }))

describe("the images of a comparison", () => {
  for (const driver of inTurn(["overlay2", "overlayfs"], 1)) {
    it.scopedLive(`are the same, different, or only here, on ${driver}`, () =>
      Effect.gen(function*() {
        const { archive, bring, compared, deployed, standIns } = yield* staged()
        yield* standIns.setStorageDriver(driver)
        expect((yield* compared).images).toEqual([])
        yield* bring(archive("one"))
        expect((yield* compared).images).toEqual([{ name: "shop:latest", status: "local-only" }])
        yield* deployed
        expect(yield* compared).toMatchObject({ images: [{ name: "shop:latest", status: "same" }], warnings: [] })
        yield* bring(archive("two"))
        expect((yield* compared).images).toEqual([{ name: "shop:latest", status: "different" }])
        // Its layers are the same, and its command is another one.
        yield* bring(archive("one", { layout: "classic", command: "/other" }))
        expect((yield* compared).images).toEqual([{ name: "shop:latest", status: "different" }])
        yield* bring(archive("one", { layout: "classic" }))
        expect((yield* compared).images).toEqual([{ name: "shop:latest", status: "same" }])
      }), 60_000 * patience)
  }

  it.scopedLive("are left out with a warning where they cannot be told, and files are compared all the same", () =>
    Effect.gen(function*() {
      const { archive, bring, compared, directory, standIns } = yield* staged()
      yield* bring(archive("one"))
      yield* standIns.setFlaw("docker-is-down", true)
      const down = yield* compared
      expect(down).toMatchObject({ images: [], summary: { "local-only": 3 } })
      expect(down.warnings).toEqual([
        expect.stringMatching(/^the images are not compared: Cannot connect to the Docker/)
      ])
      writeFileSync(join(directory, "shop.tar"), "no tar")
      expect((yield* compared).warnings).toEqual([
        "the images are not compared: shop.tar is of a form that cannot be read"
      ])
    }))
})
