import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { readSource } from "../../../src/pipelines/deploy/readSource.ts"
import { LocalFilesLive } from "../../../src/services/local/LocalFiles.ts"
import { LocalProcessesLive } from "../../../src/services/local/LocalProcesses.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const live = Layer.mergeAll(LocalFilesLive, LocalProcessesLive).pipe(Layer.provideMerge(NodeContext.layer))
const hasGit = spawnSync("git", ["--version"]).status === 0

describe.skipIf(!hasGit)("the commit of a project", () => {
  it.scopedLive("is that of its checkout, with whether files differ, and runs nothing that the checkout configures", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const git = (...args: ReadonlyArray<string>) =>
        execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", ...args], {
          cwd: directory,
          encoding: "utf8"
        }).trim()
      yield* plant(directory, {
        "compose.yml": "services: {}",
        ".gitignore": "*.log\n",
        ".gitattributes": "* filter=evil\n"
      })
      expect(yield* readSource(directory)).toEqual(Option.none())
      git("init", "-q")
      expect(yield* readSource(directory)).toEqual(Option.none())
      git("add", ".")
      git("commit", "-qm", "one")
      const commit = git("rev-parse", "HEAD")
      expect(yield* readSource(directory)).toEqual(Option.some({ commit, dirty: false }))

      const ran = join(directory, "ran.log")
      git("config", "core.fsmonitor", `touch ${ran}`)
      git("config", "filter.evil.clean", `touch ${ran}; cat`)
      writeFileSync(join(directory, "ignored.log"), "x")
      expect(yield* readSource(directory)).toEqual(Option.some({ commit, dirty: false }))
      writeFileSync(join(directory, "compose.yml"), "services: { web: {} }")
      expect(yield* readSource(directory)).toEqual(Option.some({ commit, dirty: true }))
      expect(existsSync(ran)).toBe(false)
      git("pack-refs", "--all")
      git("checkout", "-q", "--", "compose.yml")
      writeFileSync(join(directory, "new.txt"), "x")
      expect(yield* readSource(directory)).toEqual(Option.some({ commit, dirty: true }))
    }).pipe(Effect.provide(live)))
})
