import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseReadiness, readinessCommand } from "../../../src/remote/server.ts"
import { runHere, type Shell, shells, systemShell } from "../../layers/RemoteHere.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"

const ask = (home: string, shell: Shell, path = "~/containers") =>
  Effect.map(runHere(readinessCommand(path), { home, shell }), ({ stdout }) => parseReadiness(stdout))

describe("trying what a deploy needs", () => {
  it.scoped.each(shells)("finds nothing missing, and leaves nothing, in $name", (shell) =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      // The busybox of Debian has no flock.
      const lacks = spawnSync("sh", ["-c", `PATH='${shell.path}' command -v flock`]).status !== 0
      const found = lacks ? [{ kind: "missing", programs: ["flock"] }] : []
      expect(yield* ask(home, shell)).toEqual(found)
      mkdirSync(join(home, "containers"))
      expect(yield* ask(home, shell)).toEqual(found)
      expect([readdirSync(home), readdirSync(join(home, "containers"))]).toEqual([["containers"], []])
    }))

  it.scoped("names what is in the place of a directory", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      writeFileSync(join(home, "file"), "")
      symlinkSync("/nowhere", join(home, "link"))
      for (const name of ["file", "link"]) {
        expect(yield* ask(home, systemShell, `~/${name}/shop`)).toEqual([
          { kind: "unwritable", directory: join(home, name), reason: "it is no directory" }
        ])
      }
    }))

  it.scoped("names the programs that are missing", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      const path = join(home, "programs")
      mkdirSync(path)
      for (const name of ["sh", "awk", "mktemp", "rm", "dirname", "tail"]) {
        symlinkSync(spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim(), join(path, name))
      }
      const [missing] = yield* ask(home, { name: "bare", path })
      expect(missing).toMatchObject({ kind: "missing", programs: expect.arrayContaining(["flock", "tar", "xargs"]) })
    }))

  it("believes no answer without its end", () => {
    expect(parseReadiness("missing\tflock\n")).toEqual([{ kind: "untold" }])
    expect(parseReadiness("unlocked\t/srv\nend\n")).toEqual([{ kind: "unlocked", directory: "/srv" }])
  })
})
