import { FileSystem, Path } from "@effect/platform"
import { NodePath } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { homedir } from "node:os"
import { settingsFile } from "../../../src/services/settings/settingsFile.ts"
import { withEnv } from "../../fixtures/settingsIn.ts"

const located = (env: Readonly<Record<string, string>>, hasFileHere: boolean) =>
  settingsFile.pipe(
    withEnv(env),
    Effect.provide(Layer.merge(
      NodePath.layer,
      FileSystem.layerNoop({ exists: (file) => Effect.succeed(hasFileHere && file.endsWith("berth.yaml")) })
    ))
  )

const path = Effect.provide(Path.Path, NodePath.layer)

describe("settingsFile", () => {
  it.effect("is what BERTH_CONFIG names, whether or not it exists", () =>
    Effect.gen(function*() {
      const { join, resolve } = yield* path
      expect(yield* located({ BERTH_CONFIG: "other.yaml" }, true)).toBe(resolve("other.yaml"))
      expect(yield* located({ BERTH_CONFIG: resolve("a", "b.yaml") }, true)).toBe(resolve("a", "b.yaml"))
      expect(yield* located({ BERTH_CONFIG: "~/b.yaml" }, true)).toBe(join(homedir(), "b.yaml"))
    }))

  it.effect("is else berth.yaml here when there is one, else the one in the home directory", () =>
    Effect.gen(function*() {
      const { join, resolve } = yield* path
      expect(yield* located({}, true)).toBe(resolve("berth.yaml"))
      expect(yield* located({ BERTH_CONFIG: "" }, true)).toBe(resolve("berth.yaml"))
      expect(yield* located({}, false)).toBe(join(homedir(), ".config", "berth", "berth.yaml"))
    }))
})
