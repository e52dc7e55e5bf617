import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { StatsHistory, StatsHistoryLive } from "../../src/pipelines/StatsHistory.ts"
import { settingsTest, storedServer } from "../../src/testing/SettingsTest.ts"
import { lost, SshAsked, sshTest } from "../../src/testing/SshTest.ts"
import { eventually } from "../sandbox/eventually.ts"

const main = storedServer()
const other = storedServer({ id: "2", name: "Other", host: "192.168.1.21" })
const id = "a".repeat(64)
const answer = `load\t0.5\t2\ncontainer|${id}|web|hello-web-1\nusage|${id}|2%|1MiB / 2MiB|1B / 2B|3B / 4B\n`
const sample = {
  load: { minute: 0.5, processors: 2 },
  disks: [],
  containers: [{
    name: "hello-web-1",
    service: "web",
    cpuPercent: 2,
    memoryBytes: 1024 * 1024,
    networkBytes: 3,
    blockBytes: 7
  }]
}

const world = (answers: Parameters<typeof sshTest>[0], sampling: "always" | "onDemand" = "onDemand") =>
  StatsHistoryLive.pipe(
    Layer.provideMerge(sshTest(answers)),
    Layer.provideMerge(settingsTest({ "stats.sample": sampling }, [main, other]))
  )

const history = (server: string) => Effect.flatMap(StatsHistory, ({ of }) => of(server, 60))

describe("the usage of a server over time", () => {
  it.scopedLive("is one history for its id and its name", () =>
    Effect.gen(function*() {
      const point = { at: expect.stringMatching(/^\d{4}-.*Z$/), ...sample }
      expect(yield* history("Main")).toEqual({ everySeconds: 15, points: [point] })
      expect(yield* history("1")).toEqual({ everySeconds: 15, points: [point] })
      const asked = yield* Effect.flatten(SshAsked)
      expect(asked.map(({ server, what }) => [server.id, what])).toEqual([["1", "sampling the usage"]])
    }).pipe(Effect.provide(world({ "sampling the usage": { stdout: answer } }))))

  it.scopedLive("tells why a server, or its Docker, did not answer", () =>
    Effect.gen(function*() {
      const [gap] = (yield* history("1")).points
      expect(gap).toEqual({ at: expect.any(String), disks: [], containers: [], error: expect.stringMatching(/closed/) })
      const [half] = (yield* history("2")).points
      expect(half).toMatchObject({ load: sample.load, containers: [], error: expect.stringMatching(/Docker/) })
    }).pipe(Effect.provide(world({
      "sampling the usage": ({ server }) =>
        server.id === "1" ? lost(server) : { code: 3, stdout: "load\t0.5\t2\n", stderr: "" }
    }))))

  it.scopedLive("fails for a server that is not stored", () =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(history("none"))).toMatchObject({ _tag: "ServerNotFound" })
      expect(yield* Effect.flatten(SshAsked)).toEqual([])
    }).pipe(Effect.provide(world({}))))

  it.scopedLive("is sampled for all servers with stats.sample: always", () =>
    Effect.gen(function*() {
      yield* Effect.forkScoped(Effect.flatMap(StatsHistory, ({ keepSampling }) => keepSampling))
      const asked = Effect.map(Effect.flatten(SshAsked), (all) => all.map(({ server }) => server.id).sort())
      yield* eventually(Effect.map(asked, (ids) => ids.length === 2))
      expect(yield* asked).toEqual(["1", "2"])
    }).pipe(Effect.provide(world({ "sampling the usage": { stdout: answer } }, "always"))))

  it.scopedLive("is not sampled by itself otherwise", () =>
    Effect.gen(function*() {
      yield* Effect.forkScoped(Effect.flatMap(StatsHistory, ({ keepSampling }) => keepSampling))
      yield* Effect.sleep("300 millis")
      expect(yield* Effect.flatten(SshAsked)).toEqual([])
    }).pipe(Effect.provide(world({}))))
})
