import { it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { chmodSync, chownSync, statSync } from "node:fs"
import { join } from "node:path"
import { adoptCommand } from "../../src/remote/adoption.ts"
import { renderCommand } from "../../src/services/ssh/loginShell.ts"
import { runSignalled, type Signals } from "../layers/signalled.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"
import { eventually } from "../sandbox/eventually.ts"

const owner = 12_345
const names = ["one", "two", "three", "four"]
const programs = {
  "bin/docker": "#!/bin/sh\nsleep 0.02\nexit 1\n",
  // Slow, so that signals meet it.
  "bin/chown": "#!/bin/sh\nsleep 0.01\nexec /bin/chown \"$@\"\n"
}

/** Adopts a directory by a script whose processes all get signals. */
const adopt = (home: string, remotePath: string, signals: Signals) => {
  const command = adoptCommand(
    { remotePath, owned: names, containers: ["c1"], release: ["compose\tcompose.yml"] },
    false
  )
  return runSignalled(Either.getOrThrow(renderCommand(command)), home, command.stdin ?? "", signals)
}

// Only root can give files to somebody else.
it.scopedLive.skipIf(process.getuid?.() !== 0)(
  "an adoption that signals end gives every file back to its owner",
  () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      yield* plant(home, programs)
      for (const name of Object.keys(programs)) chmodSync(join(home, name), 0o755)
      const times = Array.from({ length: 40 }, (_, index) => 10 + 4 * index)
      yield* Effect.forEach(times, (at) =>
        Effect.gen(function*() {
          const directory = `stack-${at}`
          yield* plant(join(home, directory), Object.fromEntries(names.map((name) => [name, name])))
          const files = names.map((name) => join(home, directory, name))
          for (const file of files) chownSync(file, owner, 0)
          yield* adopt(home, join(home, directory), [[at, "SIGHUP"], [at + at % 23, "SIGTERM"]])
          // The last of its processes may end after the shell that waits for it.
          yield* eventually(Effect.sync(() => files.every((file) => statSync(file).uid === owner)), "5 seconds")
        }), { concurrency: 2, discard: true })
    }),
  60_000
)
