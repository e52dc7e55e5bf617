import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { activateCommand } from "../../../src/remote/activateCommand.ts"
import { activation } from "../../fixtures/docker/activation.ts"
import { runHere, shells } from "../../layers/RemoteHere.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

describe.each(shells)("an activation, in $name", (shell) => {
  it.scopedLive("changes nothing where its connection breaks before all of what to do is heard", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      mkdirSync(join(home, "app/.berth"), { recursive: true })
      const command = activateCommand(activation, false)
      const answer = yield* runHere({ ...command, stdin: (command.stdin ?? "").slice(0, -2) }, { home, shell })
      expect(answer).toMatchObject({ code: 1, stderr: "the connection broke before anything was changed\n" })
      expect(readdirSync(join(home, "app/.berth"))).toEqual([])
      // All of it is heard, and something else is in the way.
      const { stderr } = yield* runHere(command, { home, shell })
      expect(stderr).not.toContain("the connection broke")
    }))

  it.scopedLive.each([[[], 1], [["a", "b c"], 3], [["a"], 0]] as const)(
    "changes nothing where %j is there of %d files that were put there",
    ([names, stagedFiles]) =>
      Effect.gen(function*() {
        const home = yield* temporaryDirectory
        yield* plant(join(home, "app"), {
          "compose.yml": "services: {}",
          ".berth/outcome": "r0\tstarted\t1\t\n",
          ...Object.fromEntries(names.map((name) => [`.berth/incoming/${name}`, name]))
        })
        yield* plant(join(home, "programs"), { docker: "#!/bin/sh\nexit 1\n", flock: "#!/bin/sh\n" })
        for (const name of ["docker", "flock"]) chmodSync(join(home, "programs", name), 0o755)
        const command = activateCommand({ ...activation, stagedFiles }, false)
        const { code, stderr } = yield* runHere(command, { home, shell, programs: join(home, "programs") })
        expect(code).toBe(1)
        expect(stderr).toContain(`/app/.berth/incoming has ${names.length} files where ${stagedFiles} were put`)
        expect(readFileSync(join(home, "app/.berth/outcome"), "utf8")).toBe("r0\tstarted\t1\t\n")
        expect(existsSync(join(home, "app/.berth/staged"))).toBe(false)
      })
  )

  it.scopedLive("does not begin the hook of a run that was stopped while it was loading", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      const stopped = (run: string) =>
        Effect.gen(function*() {
          yield* plant(join(home, "app"), { "compose.yml": "services: {}", ".berth/stop": `${run}\n` })
          yield* plant(join(home, "programs"), {
            docker: `#!/bin/sh\nprintf '%s\\n' "$*" >>'${home}/asked-${run}'\n`,
            flock: "#!/bin/sh\n"
          })
          for (const name of ["docker", "flock"]) chmodSync(join(home, "programs", name), 0o755)
          const release = [...activation.release, "hook\tweb\tberth-web-run-1\t60", "argument\txmigrate"]
          const { stdout } = yield* runHere(activateCommand({ ...activation, release }, false), {
            home,
            shell,
            programs: join(home, "programs")
          })
          return { asked: readFileSync(join(home, `asked-${run}`), "utf8"), stdout }
        })
      const own = yield* stopped("r1")
      expect(own.stdout).toContain("failed\tbeforeStart\tyes\tnothing\nit was taken back\n")
      expect(own.asked).not.toMatch(/ run /)
      // That of a run which waits behind this one.
      const other = yield* stopped("r2")
      expect(other.asked).toMatch(/ run .* berth-web-run-1 .* web migrate$/m)
      expect(readFileSync(join(home, "app/.berth/stop"), "utf8")).toBe("r2\n")
    }))
})
