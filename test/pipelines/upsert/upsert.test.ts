import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { upsert } from "../../../src/pipelines/upsert/upsert.ts"
import { Runs } from "../../../src/services/runs/Runs.ts"
import { localText } from "../../../src/testing/LocalFilesTest.ts"
import { PlatformCalls } from "../../../src/testing/PlatformTest.ts"
import { declaring, memoryWorld } from "../../layers/worlds/memoryWorld.ts"

const projectPath = "/srv/shop"

describe("upsert", () => {
  it.effect("lets the second of two upserts see what the first made", () =>
    Effect.gen(function*() {
      const results = yield* Effect.all(
        Array.from({ length: 6 }, (_, index) =>
          upsert(index % 2 === 0 ? { projectPath } : { projectPath, appName: "shop" })),
        { concurrency: "unbounded" }
      )
      expect(
        new Set(results.map(({ uuid }) =>
          uuid
        )).size
      ).toBe(1)
      expect(results.filter(({ changelogEntry }) => changelogEntry.action === "create")).toHaveLength(1)
      const calls = yield* Effect.flatten(PlatformCalls)
      expect(calls.filter(([operation]) => operation === "createApplication")).toHaveLength(1)
      expect(calls.filter(([operation]) => operation === "createEnv")).toHaveLength(1)
      const { runs } = yield* (yield* Runs).list({ kind: "upsert", appName: "shop" })
      expect(runs.map(({ state }) => state)).toEqual(Array.from({ length: 6 }, () => "succeeded"))
    }).pipe(Effect.provide(memoryWorld({ files: declaring({ name: "shop", port: 3000 }) }))))

  it.effect("keeps every entry of a changelog that several applications share", () =>
    Effect.gen(function*() {
      const names = Array.from({ length: 8 }, (_, index) => `app${index}`)
      yield* Effect.forEach(names, (appName) => upsert({ projectPath, appName }), { concurrency: "unbounded" })
      const entries: ReadonlyArray<{ readonly appName: string }> = JSON.parse(
        yield* localText("/srv/shop/platform.changelog.json")
      )
      expect(entries.map(({ appName }) => appName).sort()).toEqual(names)
    }).pipe(Effect.provide(memoryWorld({
      files: declaring(Array.from({ length: 8 }, (_, index) => ({ name: `app${index}` })))
    }))))

  it.effect("fails with a 500 whatever the reason", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(upsert({ projectPath: "relative" }))
      expect([error.status, error.message]).toEqual([
        500,
        expect.stringContaining("No project file found: \"relative\"")
      ])
    }).pipe(Effect.provide(memoryWorld())))
})
