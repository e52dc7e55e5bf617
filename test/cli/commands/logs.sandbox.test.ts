import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { patience } from "../../fixtures/patience.ts"
import { runCli } from "../../fixtures/programs/cli.ts"

describe.skipIf(process.platform === "win32")("berth logs in a pipe", () => {
  it.scopedLive("escapes control characters, and prints them only with --raw", () =>
    Effect.gen(function*() {
      const { settingsFile, standIns } = yield* makeWorld
      const docker = join(standIns.bin, "docker")
      renameSync(docker, `${docker}-real`)
      writeFileSync(
        docker,
        "#!/bin/sh\ncase \" $* \" in *\" logs \"*) printf 'a\\033[2J\\033]0;title\\007b\\n'; exit ;; esac\n" +
          `exec '${docker}-real' "$@"\n`,
        { mode: 0o755 }
      )
      const args = ["logs", "greeter", "--server", "sandbox"]
      const plain = yield* runCli({ settingsFile }, args)
      expect([plain.code, plain.out]).toEqual([0, "a\\u001b[2J\\u001b]0;title\\u0007b\n"])
      const raw = yield* runCli({ settingsFile }, [...args, "--raw"])
      expect([raw.code, raw.out]).toEqual([0, "a\u001b[2J\u001b]0;title\u0007b\n"])
    }), 60_000 * patience)
})
