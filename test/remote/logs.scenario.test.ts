import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, Schedule } from "effect"
import { spawn } from "node:child_process"
import { chmodSync } from "node:fs"
import { join } from "node:path"
import { followLogsCommand } from "../../src/remote/logs.ts"
import { renderCommand } from "../../src/services/ssh/loginShell.ts"
import { shells } from "../layers/RemoteHere.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

/** Docker with one container, whose log is endless where the file `endless` is there. */
const docker = `#!/bin/sh
case $1 in
  ps) echo "0123abcd||web" ;;
  inspect) case "$5" in *service*) echo "web|/web" ;; *) echo 0123abcd ;; esac ;;
  logs)
    echo "2026-01-02T03:04:05.5Z once"
    [ -e "$HOME/endless" ] || exit 0
    exec sleep 1000 ;;
esac
`

const withDocker = (more: { readonly [name: string]: string } = {}) =>
  Effect.tap(temporaryDirectory, (home) =>
    Effect.zipRight(
      plant(home, { "bin/docker": docker, ...more }),
      Effect.sync(() => chmodSync(join(home, "bin", "docker"), 0o755))
    ))

const started = (shell: string, home: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const source = { kind: "container", name: "web" } as const
      const command = followLogsCommand(
        source,
        { lines: 10, since: "", until: "2026-01-02T04:00:00Z", service: "" },
        false
      )
      // As sshd starts it: in a process group of its own.
      const child = spawn("sh", ["-c", Either.getOrThrow(renderCommand(command))], {
        cwd: home,
        env: { HOME: home, PATH: `${home}/bin:${shell}` },
        detached: true
      })
      let output = ""
      let ended: number | null | undefined
      child.stdout.on("data", (chunk: Buffer) => {
        output += chunk.toString("utf8")
      })
      child.stdin.on("error", () => undefined)
      child.on("close", (code) => {
        ended = code
      })
      return { child, output: () => output, hasEnded: () => ended !== undefined, code: () => ended }
    }),
    ({ child }) =>
      Effect.sync(() => {
        try {
          if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
        } catch {
          // It has ended.
        }
      })
  )

const becomes = (test: () => boolean) =>
  Effect.sync(test).pipe(
    Effect.repeat({ until: (is) => is, schedule: Schedule.spaced("50 millis") }),
    Effect.timeout("40 seconds")
  )

describe.each(shells)("a log up to a time that is past, in $name", ({ path }) => {
  it.scopedLive("ends by itself while its reader stays", () =>
    Effect.gen(function*() {
      const home = yield* withDocker()
      const { child, code, hasEnded, output } = yield* started(path, home)
      // The reader's end of the channel is closed with it, which ends what reads it.
      child.on("exit", () => child.stdin.destroy())
      yield* becomes(hasEnded)
      expect([code(), output()]).toEqual([0, "following\no|web|2026-01-02T03:04:05.5Z once\n"])
    }))

  it.scopedLive("ends with its reader, however long the log is", () =>
    Effect.gen(function*() {
      const home = yield* withDocker({ endless: "" })
      const { child, hasEnded, output } = yield* started(path, home)
      yield* becomes(() => output().includes("following"))
      expect(hasEnded()).toBe(false)
      child.stdin.destroy()
      yield* becomes(hasEnded)
    }))
})
