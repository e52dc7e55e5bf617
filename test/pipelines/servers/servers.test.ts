import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { listContainers } from "../../../src/pipelines/servers/servers.ts"
import { settingsTest, storedServer } from "../../../src/testing/SettingsTest.ts"
import { sshTest } from "../../../src/testing/SshTest.ts"

const main = storedServer()

describe("containers", () => {
  // docs/scripts.md shows this one.
  it.effect("names the containers that run", () =>
    Effect.gen(function*() {
      expect(yield* listContainers("1")).toEqual([{ name: "web", status: "Up 2 hours", ports: "80/tcp" }])
    }).pipe(
      Effect.provide(sshTest({ "listing containers": { stdout: "web\tUp 2 hours\t80/tcp\n" } })),
      Effect.provide(settingsTest({}, [main]))
    ))

  it.effect("wraps what Docker says, and knows no server by another id", () =>
    Effect.gen(function*() {
      const failed = yield* Effect.flip(listContainers("1"))
      expect(failed).toMatchObject({ status: 500, message: "Failed to get containers: no Docker here" })
      expect(yield* Effect.flip(listContainers("2"))).toMatchObject({ status: 404 })
    }).pipe(
      Effect.provide(sshTest({ "listing containers": { code: 1, stderr: "no Docker here\n" } })),
      Effect.provide(settingsTest({}, [main]))
    ))
})
