import { Path } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { health } from "../../../src/pipelines/health/health.ts"
import { RunStoreUnavailable } from "../../../src/schema/runs.ts"
import { SettingsInvalid } from "../../../src/schema/settings.ts"
import { GitHost } from "../../../src/services/githost.ts"
import { Runs } from "../../../src/services/runs/Runs.ts"
import { Settings } from "../../../src/services/settings/Settings.ts"
import { localFilesTest } from "../../../src/testing/LocalFilesTest.ts"
import { platformTest } from "../../../src/testing/PlatformTest.ts"
import { runsTest } from "../../../src/testing/RunsTest.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"
import { sshTest } from "../../../src/testing/SshTest.ts"

const uuids = { "platform.projectUuid": "project", "platform.privateKeyUuid": "key" } as const
const world = Layer.mergeAll(
  platformTest(),
  Layer.mock(GitHost, {}),
  sshTest({}),
  runsTest,
  localFilesTest(),
  Path.layer
).pipe(
  Layer.provideMerge(settingsTest({ ...uuids, "projects.root": "/srv/projects" }))
)
const lineOf = (name: string) =>
  Effect.map(
    health({ deep: true, startedAt: 0 }),
    ({ dependencies }) => dependencies?.find((line) => line.name === name)
  )

describe("deep health", () => {
  it.effect("has a line for runs that cannot be recorded, and says that they will be by themselves", () =>
    Effect.gen(function*() {
      const runs = Runs.of({
        ...yield* Runs,
        checkStore: new RunStoreUnavailable({ store: "/srv/berth.db", reason: "the disk is full. Free some space" })
      })
      expect(yield* Effect.provideService(lineOf("history of runs"), Runs, runs)).toMatchObject({
        ok: false,
        detail: "Runs cannot be recorded in /srv/berth.db: the disk is full. Free some space",
        fix: "Mend what the detail says: the service records runs again by itself as soon as it can"
      })
    }).pipe(Effect.provide(world)))

  it.effect("says once what is wrong with the settings, and still what does not need them", () =>
    Effect.gen(function*() {
      const broken = new SettingsInvalid({ file: "berth.yaml", line: 7, setting: null, reason: "is not valid YAML: x" })
      const settings = yield* Settings
      const found = yield* health({ deep: true, startedAt: 0 }).pipe(
        Effect.provideService(Settings, {
          ...settings,
          servers: broken,
          server: () => broken,
          get: () => broken,
          find: () => broken
        })
      )
      expect(found.dependencies?.map(({ name, ok }) => [name, ok])).toEqual([
        ["settings", false],
        ["platform", true],
        ["history of runs", true]
      ])
    }).pipe(Effect.provide(world)))

  it.effect("does not complain of what the platform does not tell", () =>
    Effect.gen(function*() {
      for (const name of Object.keys(uuids)) {
        expect(yield* lineOf(name)).toMatchObject({
          ok: true,
          detail: expect.stringMatching(/^it is set: .*\. Whether it exists is unknown: not in memory$/)
        })
      }
    }).pipe(Effect.provide(world)))
})
