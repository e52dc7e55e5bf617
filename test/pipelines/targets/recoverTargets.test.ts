import { expect, it } from "@effect/vitest"
import { Duration, Effect, Layer, Option, TestClock } from "effect"
import { recoverRuns } from "../../../src/pipelines/runs.ts"
import type { TargetsRun } from "../../../src/pipelines/targets/planTargets.ts"
import type { Run } from "../../../src/schema/runs.ts"
import { RunsLive } from "../../../src/services/runs/engine.ts"
import { InstanceLive, Runs } from "../../../src/services/runs/Runs.ts"
import { runStoreLayer } from "../../../src/services/runs/store.ts"
import { type LocalFixture, localProcessesTest } from "../../../src/testing/LocalFilesTest.ts"
import { makeRunStoreMemory } from "../../../src/testing/RunsTest.ts"
import { sftpTest } from "../../../src/testing/SshTest.ts"
import { stored, storedRun } from "../../fixtures/runs/storedRuns.ts"
import { memoryWorld } from "../../layers/worlds/memoryWorld.ts"

const request: TargetsRun = {
  projectPath: "/srv/shop",
  targets: ["web-1", "web-2"].map((server, index) => ({
    server,
    serverId: String(index + 1),
    remotePath: "~/containers/shop",
    planHash: null
  })),
  parallel: false,
  pull: null,
  onUnhealthy: null,
  isLocal: true
}

const parent = storedRun(1, { kind: "deploy-all", state: "running", subject: { projectPath: "/srv/shop" } })
const child = (index: number, given: Partial<Run>) => storedRun(index + 2, { parent: parent.id, ...given })
const deployed = { success: true, healthy: true, status: "healthy", uploadedFiles: [], message: "Deployed." }

/** Recovers a run whose process was killed, some time after its request, beside these deploys that it had started. */
const recovered = (
  children: ReadonlyArray<Run>,
  after: Duration.DurationInput = 0,
  { files, stored: asked = request }: {
    readonly files?: Readonly<Record<string, LocalFixture>>
    readonly stored?: unknown
  } = {}
) =>
  Effect.gen(function*() {
    const store = yield* makeRunStoreMemory
    yield* store.history.insert({ ...stored(parent), workflow: "deploy-all/v1", request: asked })
    for (const [index, run] of children.entries()) {
      const key = { key: `${parent.id} ${index}`, digest: "" }
      yield* store.history.insert({ ...stored(run), request: null, idempotency: Option.some(key) })
    }
    return yield* Effect.gen(function*() {
      const runs = yield* Runs
      yield* TestClock.setTime(Date.parse(parent.requestedAt) + Duration.toMillis(after))
      yield* recoverRuns
      const waiting = yield* Effect.fork(runs.await(parent.id))
      yield* TestClock.adjust("10 seconds")
      return { ended: yield* waiting, all: (yield* runs.list({})).runs }
    }).pipe(
      Effect.provide(Layer.provide(RunsLive, runStoreLayer(Effect.succeed(store)))),
      Effect.provide(
        Layer.mergeAll(
          memoryWorld(files === undefined ? {} : { files, settings: { "projects.root": "/srv" } }),
          sftpTest(),
          InstanceLive,
          localProcessesTest({})
        )
      )
    )
  })

for (const after of ["1 second", "3 days"] as const) {
  it.scoped(`a run that is recovered after ${after} takes the deploys that it had started, and deploys nothing twice`, () =>
    Effect.gen(function*() {
      const { all, ended } = yield* recovered([
        child(0, { result: deployed }),
        child(1, { result: deployed })
      ], after)
      expect(ended).toMatchObject({
        state: "succeeded",
        result: { deployed: 2, targets: [{ runId: child(0, {}).id }, { runId: child(1, {}).id }] }
      })
      expect(all).toHaveLength(3)
    }))
}

it.scoped("a deploy that could not be recovered stops the turn", () =>
  Effect.gen(function*() {
    const { all, ended } = yield* recovered([child(0, { state: "running", startedAt: parent.requestedAt })])
    expect(ended).toMatchObject({
      state: "failed",
      result: { deployed: 0, targets: [{ outcome: "failed" }, { outcome: "notTried", runId: null }] }
    })
    expect(all.map(({ state }) => state)).toEqual(["interrupted", "failed"])
  }))

const { isLocal: _, ...ofAnOlderVersion } = request

it.scoped.each<readonly [who: string, stored: unknown, isTrusted: boolean]>([
  ["the machine's user", request, true],
  ["a caller with a token", { ...request, isLocal: false }, false],
  ["an unknown caller", ofAnOlderVersion, false]
])("a run of %s keeps the rights of its caller when it is recovered", ([, asked, isTrusted]) =>
  Effect.gen(function*() {
    const files = {
      "/srv/shop/compose.yml": "services: { web: { image: web } }",
      "/srv/shop/container.json": JSON.stringify({ serverId: "1", hooks: { beforeDeploy: [["./evil"]] } })
    }
    const { ended } = yield* recovered([], 0, { files, stored: asked })
    expect(ended).toMatchObject({ state: "failed", result: { deployed: 0, targets: [{ outcome: "failed" }, {}] } })
    expect(JSON.stringify(ended).includes("has not trusted")).toBe(!isTrusted)
  }))
