import { describe, expect, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { chmodSync, existsSync } from "node:fs"
import { join } from "node:path"
import { activateCommand } from "../../../src/remote/activateCommand.ts"
import { renderCommand } from "../../../src/services/ssh/loginShell.ts"
import { activation } from "../../fixtures/docker/activation.ts"
import { systemShell } from "../../layers/RemoteHere.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"
import { eventually } from "../../sandbox/eventually.ts"

describe("the watcher of a hook", () => {
  it.scopedLive("ends, and ends the hook, where its activation was killed", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      // The hook ends once its container is removed.
      const docker = `#!/bin/sh
case "$*" in
  *" run "*) echo begun >'${home}/begun'; while [ ! -e '${home}/removed' ]; do sleep 0.1; done ;;
  "rm -fv berth-web-run-1") echo >'${home}/removed' ;;
esac
`
      yield* plant(home, { "app/compose.yml": "services: {}", "app/.berth/lock": "", "programs/docker": docker })
      chmodSync(join(home, "programs/docker"), 0o755)
      const release = [...activation.release, "hook\tweb\tberth-web-run-1\t600", "argument\txmigrate"]
      const command = activateCommand({ ...activation, release }, false)
      const child = yield* Effect.acquireRelease(
        Effect.sync(() => {
          const child = spawn("sh", ["-c", Either.getOrThrow(renderCommand(command))], {
            cwd: home,
            env: { HOME: home, PATH: `${home}/programs:${systemShell.path}` },
            detached: true,
            stdio: ["pipe", "ignore", "ignore"]
          })
          child.stdin.end(command.stdin)
          return child
        }),
        ({ pid }) => Effect.ignore(Effect.try(() => process.kill(-(pid ?? Number.NaN), "SIGKILL")))
      )
      yield* eventually(Effect.sync(() => existsSync(join(home, "begun"))))
      child.kill("SIGKILL")
      // A process that has lost its parent may stay as a zombie.
      const hasEnded = Effect.sync(() =>
        spawnSync("ps", ["-eo", "pgid=,stat="], { encoding: "utf8" }).stdout.split("\n").every((line) => {
          const [group, state = ""] = line.trim().split(/ +/)
          return group !== String(child.pid) || state.startsWith("Z")
        })
      )
      yield* eventually(hasEnded, "50 seconds")
      expect(existsSync(join(home, "removed"))).toBe(true)
    }))
})
