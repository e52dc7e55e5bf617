import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ownedDirectory, removeOrphans } from "../../../src/sandbox/world.ts"

const left = (owner: string | undefined) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const directory = yield* Effect.acquireRelease(
      files.makeTempDirectory({ prefix: "berth-sandbox-" }),
      (directory) => Effect.ignore(files.remove(directory, { recursive: true }))
    )
    if (owner !== undefined) yield* files.writeFileString(join(directory, ".owner"), owner)
    yield* files.writeFileString(join(directory, "berth.yaml"), "token: secret")
    return directory
  })

describe("the directories of sandboxes", () => {
  it.scopedLive("are cleared when their process was killed, and no others", () =>
    Effect.gen(function*() {
      const dead = yield* left(String(spawnSync(process.execPath, ["-e", ""]).pid))
      const alive = yield* ownedDirectory
      const others = [yield* left(undefined), yield* left("1; id"), yield* left(String(process.ppid))]
      yield* removeOrphans
      expect(existsSync(dead)).toBe(false)
      expect([alive, ...others].filter((directory) => !existsSync(directory))).toEqual([])
      expect(alive.startsWith(tmpdir())).toBe(true)
      expect(readFileSync(join(alive, ".owner"), "utf8")).toBe(String(process.pid))
    }).pipe(Effect.provide(NodeContext.layer)))
})
