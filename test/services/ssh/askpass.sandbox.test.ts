import { it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { script as sudo } from "../../../src/services/ssh/scripts/sudo.sh.ts"
import { runSignalled } from "../../layers/signalled.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"
import { eventually } from "../../sandbox/eventually.ts"

const programs = {
  "bin/id": "#!/bin/sh\necho 1000\n",
  "bin/sudo": "#!/bin/sh\nsleep 0.02\n"
}

it.scopedLive.skipIf(process.platform === "win32")(
  "the program that tells sudo the password is removed, whenever signals end the script",
  () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      yield* plant(home, programs)
      for (const name of Object.keys(programs)) chmodSync(join(home, name), 0o755)
      const times = Array.from({ length: 60 }, (_, index) => 1 + index)
      yield* Effect.forEach(times, (at) =>
        runSignalled(`${sudo}\nas_root true`, home, "secret\n", [[at, "SIGHUP"], [at + at % 7, "SIGTERM"]]), {
        concurrency: 2
      })
      // The last of them cleans up after the shell that waits for it has ended.
      yield* eventually(
        Effect.sync(() =>
          readdirSync(home).length === 1
        ),
        "5 seconds"
      )
    })
)
