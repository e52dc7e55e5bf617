import { Path } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Ref } from "effect"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import type { DeployRequest } from "../../../src/schema/deploys.ts"
import { InstanceLive, Runs } from "../../../src/services/runs/Runs.ts"
import { localFilesTest, localProcessesTest } from "../../../src/testing/LocalFilesTest.ts"
import { platformTest } from "../../../src/testing/PlatformTest.ts"
import { runsTest } from "../../../src/testing/RunsTest.ts"
import { settingsTest, storedServer } from "../../../src/testing/SettingsTest.ts"
import { sftpTest, sshTest } from "../../../src/testing/SshTest.ts"

const servers = [
  storedServer({ id: "1", host: "main.lan" }),
  storedServer({ id: "2", host: "Main.LAN" }),
  storedServer({ id: "3", host: "main.lan", port: 2222 })
]

/** Run that a deploy starts: its name, by which deploys queue, and the request that it records. */
const runOf = (serverId: string, remotePath: string, overrides: Pick<DeployRequest, "onUnhealthy"> = {}) =>
  Effect.gen(function*() {
    const started = yield* Ref.make<{ readonly key: string; readonly request: unknown }>({ key: "", request: null })
    const runs = Runs.of({
      ...yield* Runs,
      run: ({ key, kind, request }) =>
        Effect.zipRight(Ref.set(started, { key: `${kind}: ${key.name}`, request }), Effect.interrupt)
    })
    yield* deploy({ projectPath: "/srv/shop", serverId, remotePath, ...overrides }).pipe(
      Effect.provideService(Runs, runs),
      Effect.exit
    )
    return yield* Ref.get(started)
  }).pipe(Effect.provide(Layer.mergeAll(
    localFilesTest({ "/srv/shop": { directory: true } }),
    localProcessesTest({}),
    Layer.provideMerge(runsTest, settingsTest({}, servers)),
    sshTest({}),
    sftpTest(),
    platformTest(),
    InstanceLive,
    Path.layer
  )))

const keyOf = (serverId: string, remotePath: string) => Effect.map(runOf(serverId, remotePath), ({ key }) => key)

describe("deploys", () => {
  it.effect("record the override of onUnhealthy, which still holds after a restart", () =>
    Effect.gen(function*() {
      for (const onUnhealthy of ["keep", "rollback"] as const) {
        const { request } = yield* runOf("1", "~/containers/shop", { onUnhealthy })
        expect(request).toMatchObject({ onUnhealthy })
      }
    }))

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
