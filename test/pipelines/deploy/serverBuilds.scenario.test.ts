import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Runs } from "../../../src/services/runs/Runs.ts"
import { killScript, scene } from "../../fixtures/docker/deployScene.ts"
import { patience } from "../../fixtures/patience.ts"
import { eventually } from "../../sandbox/eventually.ts"

/** A server whose Docker builds what stands in a file, once another one is gone. */
const building = Effect.gen(function*() {
  const stage = yield* scene()
  const { archive, directory, home, program } = stage
  const [hold, begun, built] = ["hold", "begun", "built.tar"].map((name) => join(home, name))
  const docker = (more: string) =>
    program(
      "docker",
      `case $* in
  *" build web") : >'${begun}'; while [ -e '${hold}' ]; do sleep 0.02; done; exec "$STAND_INS/docker" load -i '${built}' ;;
  ${more}
esac
exec "$STAND_INS/docker" "$@"`
    )
  /** Changes the sources, and what a build makes of them. */
  const change = (answer: string) =>
    Effect.sync(() => {
      writeFileSync(join(directory, "web/index.html"), answer)
      writeFileSync(built ?? "", archive(answer))
    })
  mkdirSync(join(directory, "web"))
  writeFileSync(join(directory, "container.json"), "{ \"files\": [\"web\"] }")
  writeFileSync(join(directory, "compose.yml"), "services:\n  web:\n    image: shop:latest\n    build: ./web\n")
  yield* docker("")
  yield* change("one")
  yield* stage.deployed
  return {
    ...stage,
    change,
    docker,
    hold: hold ?? "",
    begun: begun ?? "",
    image: stage.docker("inspect", "--format", "{{.Image}}", "shop-web-1"),
    build: Effect.map(stage.planned, ({ images: [image] }) => image?.buildReason)
  }
})

describe.skipIf(process.platform === "win32")("a deploy that builds on the server", () => {
  it.scopedLive("builds again where it was cut off", () =>
    Effect.gen(function*() {
      const { build, change, deployed, docker, image } = yield* building
      expect(yield* build).toBeUndefined()
      const before = yield* image
      yield* change("two")
      yield* docker(`*" up -d") ${killScript} ;;`)
      expect((yield* Effect.flip(deployed)).message).toContain("the server stopped halfway")
      yield* docker("")
      // Its files are there, and so is its image, which may be one of half of them.
      expect(yield* build).toBe("what it is built from changed")
      expect((yield* deployed).message).toContain("Built anew there: web.")
      expect(yield* image).not.toBe(before)
      expect(yield* build).toBeUndefined()
    }), 60_000 * patience)

  it.scopedLive("is taken back when it is cancelled during the build", () =>
    Effect.gen(function*() {
      const { begun, berth, build, change, deployed, hold, image } = yield* building
      const before = yield* image
      yield* change("two")
      const runs = yield* Effect.provide(Runs, berth)
      rmSync(begun)
      writeFileSync(hold, "")
      const fiber = yield* Effect.fork(Effect.exit(deployed))
      yield* eventually(Effect.sync(() => existsSync(begun)))
      const id = (yield* runs.list({ limit: 1 })).runs[0]?.id ?? ""
      const cancelling = yield* Effect.fork(runs.cancel(id))
      // The build itself never ends.
      yield* Fiber.join(cancelling)
      yield* Fiber.join(fiber)
      rmSync(hold)
      expect((yield* runs.await(id)).error?.error).toBe(
        "The deploy was cancelled at load. The previous version is still running"
      )
      expect(yield* image).toBe(before)
      expect(yield* build).toBe("web/index.html changed")
    }), 60_000 * patience)
})
