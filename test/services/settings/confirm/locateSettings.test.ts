import { FileSystem, Path } from "@effect/platform"
import { NodePath } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { homedir, userInfo } from "node:os"
import { isAbsolute } from "node:path"
import { lockDirectory } from "../../../../src/services/locks/fileLock.ts"
import { locateSettings, resolveOwnSettingsPath } from "../../../../src/services/settings/confirm.ts"
import { withEnv } from "../../../fixtures/settingsIn.ts"

const located = (env: Readonly<Record<string, string>>, hasFileHere: boolean, given = Option.none<string>()) =>
  locateSettings(given).pipe(
    withEnv(env),
    Effect.provide(Layer.merge(
      NodePath.layer,
      FileSystem.layerNoop({ exists: (file) => Effect.succeed(hasFileHere && file.endsWith("berth.yaml")) })
    ))
  )
const named = (file: string) => ({ file, isNamed: true })

const path = Effect.provide(Path.Path, NodePath.layer)

describe("locateSettings", () => {
  it.effect("is the file that is given, else the one that BERTH_CONFIG names, whether or not it exists", () =>
    Effect.gen(function*() {
      const { join, resolve } = yield* path
      expect(yield* located({ BERTH_CONFIG: "other.yaml" }, true)).toEqual(named(resolve("other.yaml")))
      expect(yield* located({ BERTH_CONFIG: resolve("a", "b.yaml") }, true)).toEqual(named(resolve("a", "b.yaml")))
      expect(yield* located({ BERTH_CONFIG: "~/b.yaml" }, true)).toEqual(named(join(homedir(), "b.yaml")))
      expect(yield* located({ BERTH_CONFIG: "other.yaml" }, true, Option.some("berth.yaml"))).toEqual(
        named(resolve("berth.yaml"))
      )
    }))

  it.effect("is the text of BERTH_SETTINGS before any file but a given one, and not where that is empty", () =>
    Effect.gen(function*() {
      const { resolve } = yield* path
      const found = yield* located({ BERTH_SETTINGS: "servers: []", BERTH_CONFIG: "other.yaml" }, true)
      expect(found).toMatchObject({ file: "BERTH_SETTINGS", isNamed: true })
      expect(Redacted.value(found.text ?? Redacted.make(""))).toBe("servers: []")
      const given = yield* located({ BERTH_SETTINGS: "servers: []" }, true, Option.some("a.yaml"))
      expect(given).toEqual(named(resolve("a.yaml")))
      expect(yield* located({ BERTH_SETTINGS: "", BERTH_CONFIG: "b.yaml" }, true)).toEqual(named(resolve("b.yaml")))
    }))

  it.effect("is else berth.yaml here, which nobody named, else the one in the home directory", () =>
    Effect.gen(function*() {
      const { join, resolve } = yield* path
      const here = { file: resolve("berth.yaml"), isNamed: false }
      expect(yield* located({}, true)).toEqual(here)
      expect(yield* located({ BERTH_CONFIG: "" }, true)).toEqual(here)
      expect(yield* located({}, false)).toEqual(named(join(homedir(), ".config", "berth", "berth.yaml")))
    }))

  it.scoped.skipIf(process.platform === "win32")(
    "is never in the working directory for want of a home directory",
    () =>
      Effect.gen(function*() {
        const { join } = yield* path
        const { HOME } = process.env
        yield* Effect.addFinalizer(() => Effect.sync(() => void (process.env["HOME"] = HOME)))
        const own = join(userInfo().homedir, ".config", "berth", "berth.yaml")
        for (const home of ["", ".", "relative", "./x", undefined]) {
          if (home === undefined) delete process.env["HOME"]
          else process.env["HOME"] = home
          expect([home, yield* located({}, false)]).toEqual([home, named(own)])
          expect([home, resolveOwnSettingsPath(yield* Path.Path, "trusted")]).toEqual([
            home,
            join(own, "..", "trusted")
          ])
          expect([home, (yield* located({ BERTH_CONFIG: "~/b.yaml" }, true)).file]).toEqual([
            home,
            join(userInfo().homedir, "b.yaml")
          ])
          expect([home, isAbsolute(yield* withEnv({ XDG_STATE_HOME: home ?? "" })(lockDirectory))]).toEqual([
            home,
            true
          ])
        }
      }).pipe(Effect.provide(NodePath.layer))
  )
})
