import { expect, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { recoverRuns } from "../../src/pipelines/runs.ts"
import { type Caller, CurrentCaller } from "../../src/services/access/Caller.ts"
import { RunsLive } from "../../src/services/runs/engine.ts"
import { InstanceLive, Runs, type RunSpec } from "../../src/services/runs/Runs.ts"
import { runStoreLayer } from "../../src/services/runs/store.ts"
import { localProcessesTest } from "../../src/testing/LocalFilesTest.ts"
import { makeRunStoreMemory } from "../../src/testing/RunsTest.ts"
import { sftpTest } from "../../src/testing/SshTest.ts"
import { stored, storedRun } from "../fixtures/runs/storedRuns.ts"
import { memoryWorld } from "../layers/worlds/memoryWorld.ts"

const request = { projectPath: "/srv/shop", appName: "shop" }
const world = Layer.mergeAll(
  memoryWorld({
    files: {
      "/srv/shop/container.json": "{\"allowLinks\": true}",
      "/srv/shop/platform.json": { link: "/outside/platform.json" },
      "/outside/platform.json": "{\"apps\": [{\"name\": \"other\"}]}"
    },
    settings: { "projects.root": "/srv" }
  }),
  sftpTest(),
  InstanceLive,
  localProcessesTest({})
)

it.scoped.each<readonly [who: string, request: object, isFollowed: boolean]>([
  ["the machine's user", { ...request, isLocal: true }, true],
  ["a caller with a token", request, false]
])(
  "an upsert of %s follows links as its caller may when it is resumed",
  ([, asked, isFollowed]) =>
    Effect.gen(function*() {
      const store = yield* makeRunStoreMemory
      const run = storedRun(1, { kind: "upsert", state: "running", subject: { projectPath: "/srv/shop" } })
      yield* store.history.insert({ ...stored(run), workflow: "upsert/v1", request: asked })
      const ended = yield* Effect.zipRight(recoverRuns, Effect.flatMap(Runs, (runs) => runs.await(run.id))).pipe(
        Effect.provide(Layer.provide(RunsLive, runStoreLayer(Effect.succeed(store)))),
        Effect.provide(world)
      )
      expect(ended).toMatchObject({ state: "failed", steps: [{ step: "config" }] })
      expect(JSON.stringify(ended).includes("leads out of the project")).toBe(!isFollowed)
    })
)

it.scoped("a run records whether the machine's user asked for it", () =>
  Effect.gen(function*() {
    const store = yield* makeRunStoreMemory
    const recorded: Array<unknown> = []
    const history: typeof store.history = {
      ...store.history,
      insert: (run) => Effect.zipRight(Effect.sync(() => recorded.push(run.request)), store.history.insert(run))
    }
    const spec: RunSpec<unknown, unknown> = {
      kind: "upsert",
      key: { rank: 1, name: "shop" },
      subject: { projectPath: "/srv/shop" },
      request,
      result: Schema.Unknown,
      afterRestart: "give up"
    }
    yield* Effect.gen(function*() {
      const runs = yield* Runs
      yield* runs.run(spec, Effect.succeed("done"))
      const caller: Caller = { name: "ci", role: "operator" }
      yield* Effect.provideService(runs.run(spec, Effect.succeed("done")), CurrentCaller, caller)
    }).pipe(Effect.provide(Layer.provide(RunsLive, runStoreLayer(Effect.succeed({ ...store, history })))))
    expect(recorded).toEqual([{ ...request, isLocal: true }, request])
  }).pipe(Effect.provide(world)))
