import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { executeStackAction } from "../../../../src/pipelines/stacks.ts"
import { Runs } from "../../../../src/services/runs/Runs.ts"
import { scene } from "../../../fixtures/docker/deployScene.ts"
import { patience } from "../../../fixtures/patience.ts"
import { eventually } from "../../../sandbox/eventually.ts"

const well = `services:\n  web:\n    image: shop:latest\n    env_file: [.env]\n`
const atOnce = 4

const staged = Effect.gen(function*() {
  const stage = yield* scene()
  const hold = join(stage.home, "hold")
  // Each `compose up` notes where it is, and waits for as long as `hold` names that place, or all of them.
  yield* stage.program(
    "docker",
    `case " $* " in *" up "*) if [ -e '${hold}' ]; then : >'${stage.home}'/up-"\${PWD##*/}"
  while grep -qx -e all -e "\${PWD##*/}" '${hold}' 2>/dev/null; do sleep 0.02; done; fi ;; esac
exec "$STAND_INS/docker" "$@"`
  )
  writeFileSync(join(stage.directory, "compose.yml"), well)
  yield* stage.bring(stage.archive("one"))
  const pathOf = (name: string) => `~/containers/${name}`
  const runs = yield* Effect.provide(Runs, stage.berth)
  return {
    ...stage,
    deployTo: (name: string) => stage.deployedWith({ remotePath: pathOf(name) }),
    restart: (name: string) =>
      Effect.provide(executeStackAction("restart", { serverId: "1", remotePath: pathOf(name) }), stage.berth),
    hold: (name: string) => writeFileSync(hold, `${name}\n`),
    letGo: () => rmSync(hold),
    isUp: (name: string) => existsSync(join(stage.home, `up-${name}`)),
    up: () => readdirSync(stage.home).filter((name) => name.startsWith("up-")),
    newest: Effect.map(runs.list({ limit: 1 }), (page) => page.runs[0])
  }
})

describe.skipIf(process.platform === "win32")("what is done to several stacks of a server", () => {
  it.scopedLive("overlaps: a start that takes long holds up no other stack", () =>
    Effect.gen(function*() {
      const stage = yield* staged
      yield* stage.deployTo("blog")
      stage.hold("shop")
      const slow = yield* Effect.fork(stage.deployTo("shop"))
      yield* eventually(Effect.sync(() => stage.isUp("shop")))
      expect(yield* stage.restart("blog")).toMatchObject({ success: true, status: "healthy" })
      expect(yield* stage.deployTo("wiki")).toMatchObject({ healthy: true })
      expect((yield* stage.newest)?.steps[0]?.step).toBe("preflight")
      expect(yield* Fiber.poll(slow)).toMatchObject({ _tag: "None" })
      stage.letGo()
      expect(yield* Fiber.join(slow)).toMatchObject({ healthy: true })
    }), 60_000 * patience)

  it.scopedLive("overlaps for four of them, and the others say what they wait for", () =>
    Effect.gen(function*() {
      const stage = yield* staged
      stage.hold("all")
      const names = ["a", "b", "c", "d", "e", "f", "g"]
      const fibers = yield* Effect.forEach(names, (name) => Effect.fork(stage.deployTo(name)))
      yield* eventually(Effect.sync(() => stage.up().length === atOnce))
      const detail = "for one of the 4 others that work on \"Main\" to end"
      yield* eventually(Effect.map(stage.newest, (run) => run?.steps[0]?.detail === detail))
      expect((yield* stage.newest)?.steps).toMatchObject([{ step: "wait", status: "running", detail }])
      yield* Effect.sleep("300 millis")
      expect(stage.up()).toHaveLength(atOnce)
      stage.letGo()
      for (const fiber of fibers) expect(yield* Fiber.join(fiber)).toMatchObject({ healthy: true })
      expect((yield* stage.newest)?.steps.slice(0, 2)).toMatchObject([
        { step: "wait", status: "done" },
        { step: "preflight", status: "done" }
      ])
    }), 60_000 * patience)
})
