import { Path } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Ref } from "effect"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { InstanceLive } from "../../../src/services/runs/Instance.ts"
import { Runs } from "../../../src/services/runs/Runs.ts"
import { localFilesTest } from "../../layers/LocalFilesTest.ts"
import { runsTest } from "../../layers/RunsTest.ts"
import { settingsTest, storedServer } from "../../layers/SettingsTest.ts"
import { SshTest } from "../../layers/SshTest.ts"

const servers = [
  storedServer({ id: "1", host: "main.lan" }),
  storedServer({ id: "2", host: "Main.LAN" }),
  storedServer({ id: "3", host: "main.lan", port: 2222 })
]

/** The run that a deploy is: those of one name follow each other. */
const keyOf = (serverId: string, remotePath: string) =>
  Effect.gen(function*() {
    const key = yield* Ref.make("")
    const runs = Runs.of({
      ...yield* Runs,
      run: (spec) => Effect.zipRight(Ref.set(key, `${spec.kind}: ${spec.key.name}`), Effect.interrupt)
    })
    yield* deploy({ projectPath: "/srv/shop", serverId, remotePath }).pipe(
      Effect.provideService(Runs, runs),
      Effect.exit
    )
    return yield* Ref.get(key)
  }).pipe(Effect.provide(Layer.mergeAll(
    localFilesTest({ "/srv/shop": { directory: true } }),
    Layer.provideMerge(runsTest, settingsTest({}, servers)),
    SshTest({}),
    InstanceLive,
    Path.layer
  )))

describe("deploys", () => {
  it.effect("follow each other that go to one directory, however it and its server are written", () =>
    Effect.gen(function*() {
      const key = "deploy: path main.lan:22 ~/containers/shop"
      expect(yield* keyOf("1", "~/containers/shop")).toBe(key)
      expect(yield* keyOf("1", "~/containers//shop/")).toBe(key)
      expect(yield* keyOf("2", "~/containers/shop")).toBe(key)
    }))

  it.effect("are runs of their own that go to others", () =>
    Effect.gen(function*() {
      expect(yield* keyOf("1", "~/containers/shop2")).toBe("deploy: path main.lan:22 ~/containers/shop2")
      expect(yield* keyOf("3", "~/containers/shop")).toBe("deploy: path main.lan:2222 ~/containers/shop")
    }))
})
