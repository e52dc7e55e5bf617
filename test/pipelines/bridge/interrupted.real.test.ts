import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber } from "effect"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { Runs } from "../../../src/services/runs/Runs.ts"
import { type BridgedProject, bridgedProject, until, untilStep } from "../../fixtures/docker/bridgedProject.ts"
import { realServer } from "../../fixtures/docker/realProject.ts"
import { openRelay } from "../../fixtures/network/relay.ts"
import { patience } from "../../fixtures/patience.ts"

const settings = { "proxy.settle": Duration.millis(700) }

interface Moment {
  readonly name: string
  readonly comes: (world: BridgedProject) => Effect.Effect<void, Error, Runs>
  /** Fate of the container that ran before: it is never stopped, replaced, or replaced and started again. */
  readonly before: "runs on" | "is replaced" | "is restored" | "is replaced or runs on"
}

const atFile = (moment: Parameters<BridgedProject["isAt"]>[0]) => (world: BridgedProject) =>
  until(moment, Effect.sync(() => world.isAt(moment)))

const moments = {
  bridgeStarts: {
    name: "the bridge starts",
    comes: atFile("the bridge starts"),
    before: "runs on"
  },
  bridgeServes: {
    name: "the bridge serves",
    comes: atFile("the bridge serves"),
    // Between two commands a connection is opened again, perhaps before the server has noticed.
    before: "is replaced or runs on"
  },
  starts: { name: "the stack starts", comes: () => untilStep("start"), before: "is replaced" },
  health: { name: "its health is awaited", comes: () => untilStep("health"), before: "is replaced" },
  returns: { name: "the requests return", comes: () => untilStep("return"), before: "is replaced" }
} satisfies Record<string, Moment>

/** Deploys a version for each moment, and has something happen then. */
const struckAt = (
  world: BridgedProject,
  all: ReadonlyArray<Moment>,
  strike: Effect.Effect<unknown, unknown, Runs>
) =>
  Effect.gen(function*() {
    let runs = "the first version"
    yield* world.build(runs)
    expect(yield* deploy(world.request)).toMatchObject({ healthy: true })
    for (const moment of all) {
      const before = yield* world.running
      yield* world.build(moment.name)
      const deployed = yield* Effect.fork(Effect.exit(deploy(world.request)))
      yield* moment.comes(world)
      // On a busy machine the deploy may have ended by itself.
      yield* Effect.ignore(strike)
      const exit = yield* Fiber.join(deployed).pipe(
        Effect.timeoutFail({ duration: "200 seconds", onTimeout: () => new Error(`${moment.name}: the deploy hangs`) })
      )
      if (moment === moments.bridgeStarts) expect(Exit.isFailure(exit)).toBe(true)
      yield* world.nothingLeft(`${moment.name}: ${JSON.stringify(exit)}`)
      if (moment.before === "is replaced") runs = moment.name
      const answer = yield* world.answer
      if (moment.before === "is replaced or runs on" && answer === moment.name) runs = answer
      expect(answer, moment.name).toBe(runs)
      if (moment.before === "runs on") expect(yield* world.running, moment.name).toBe(before)
    }
  })

const title = realServer.title("a bridged redeploy that is interrupted")

describe.skipIf(!realServer.available)(title, { concurrent: true, timeout: 300_000 * patience }, () => {
  it.scopedLive("leads back when it is cancelled", () =>
    Effect.gen(function*() {
      const world = yield* bridgedProject()
      const cancel = Effect.gen(function*() {
        const runs = yield* Runs
        const running = (yield* runs.list({})).runs.find(({ state }) => state === "running")
        yield* runs.cancel(running?.id ?? "")
      })
      const all: ReadonlyArray<Moment> = [
        moments.bridgeStarts,
        { ...moments.starts, before: "is restored" },
        moments.returns
      ]
      yield* Effect.provide(struckAt(world, all, cancel), world.layer(settings))
    }))

  it.scopedLive("leads back when the connection breaks", () =>
    Effect.gen(function*() {
      let cut: Effect.Effect<void> = Effect.void
      const world = yield* bridgedProject((server) =>
        Effect.map(openRelay(server.port), (relay) => {
          cut = relay.cut
          return { ...server, port: relay.port }
        })
      )
      const strike = Effect.suspend(() => cut)
      yield* Effect.provide(struckAt(world, Object.values(moments), strike), world.layer(settings))
    }))
})
