import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmod } from "node:fs/promises"
import { join } from "node:path"
import { parseSample, sampleCommand, sampleExit } from "../../../src/remote/sample.ts"
import { runHere, shells } from "../../layers/RemoteHere.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

/** A Docker with these containers, whose first looks fail, as many as are said. */
const stage = (names: ReadonlyArray<string>, failing: number) =>
  Effect.gen(function*() {
    const home = yield* temporaryDirectory
    yield* plant(home, {
      "list": names.map((name, index) => `id${index}|web|${name}\n`).join(""),
      "bin/docker": `#!/bin/sh
case $1 in
  ps) cat "$HOME/list" ;;
  info) echo /nowhere ;;
  stats)
    echo look >>"$HOME/looks"
    [ "$(wc -l <"$HOME/looks")" -gt ${failing} ] || { echo EOF >&2; exit 1; }
    shift 4
    for id do [ "$id" = "\${id#id}" ] || echo "usage|$id|1%|1MiB / 2MiB|1B / 1B|2B / 2B"; done ;;
esac
`
    })
    yield* Effect.promise(() => chmod(join(home, "bin", "docker"), 0o755))
    return { home, programs: join(home, "bin") }
  })

describe.each(shells)("a sample of a server in $name", (shell) => {
  it.scoped("has its load, memory, disk and containers, whatever these are called", () =>
    Effect.gen(function*() {
      const names = ["hello-web-1", "$(touch RAN)", "a b", "*", "-n"]
      const { home, programs } = yield* stage(names, 2)
      const { code, stderr, stdout } = yield* runHere(sampleCommand(false), { shell, home, programs })
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
      const { containers, disks, load, memory } = parseSample(stdout)
      expect(containers.map(({ name }) => name)).toEqual(names)
      expect(containers[0]).toEqual({
        name: "hello-web-1",
        service: "web",
        cpuPercent: 1,
        memoryBytes: 1024 * 1024,
        networkBytes: 2,
        blockBytes: 4
      })
      expect(disks[0]).toMatchObject({ holds: ["containers"] })
      expect(load?.processors).toBeGreaterThan(0)
      expect(memory?.totalBytes).toBeGreaterThan(0)
    }))

  it.scoped("is empty where no container runs, and never of more than 500", () =>
    Effect.gen(function*() {
      const none = yield* stage([], 0)
      const empty = yield* runHere(sampleCommand(false), { shell, ...none })
      expect(empty).toMatchObject({ code: 0, stderr: "" })
      expect(parseSample(empty.stdout).containers).toEqual([])
      const many = yield* stage(Array.from({ length: 600 }, (_, index) => `c${index}`), 0)
      const { stdout } = yield* runHere(sampleCommand(false), { shell, ...many })
      expect(stdout.split("\n").filter((line) => line.startsWith("container|"))).toHaveLength(500)
    }))

  it.scoped("has what is known without Docker where that does not answer", () =>
    Effect.gen(function*() {
      const { home, programs } = yield* stage(["a"], 3)
      const exit = yield* runHere(sampleCommand(false), { shell, home, programs })
      expect(exit).toMatchObject({ code: sampleExit.noDocker, stderr: "EOF\n" })
      expect(parseSample(exit.stdout).memory?.totalBytes).toBeGreaterThan(0)
    }))
})
