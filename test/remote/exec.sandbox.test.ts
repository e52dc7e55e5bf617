import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmod } from "node:fs/promises"
import { execCommand } from "../../src/remote/exec.ts"
import { runHere, shells } from "../layers/RemoteHere.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const container = { id: "c".repeat(64), name: "app-web-1" }

describe.each(shells)("running a command in a container, with $name", (shell) => {
  it.scopedLive("hands every word to docker as it is", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      // In place of docker: prints its arguments, each between brackets.
      yield* plant(home, { "bin/docker": "#!/bin/sh\nprintf '[%s]' \"$@\"\nexit 7\n" })
      yield* Effect.promise(() => chmod(`${home}/bin/docker`, 0o755))
      const words = ["a b", "'\"$HOME`\\", "two\nlines\r", "\\n9", "\n9", "", "-x", "*"]
      const terminal = { type: "xterm", columns: 80, rows: 24 }
      const docker = (options: Parameters<typeof execCommand>[3]) =>
        runHere(execCommand(container, "mark", words, options), { shell, home, programs: `${home}/bin` })
      const said = words.map((word) => `[${word}]`).join("")
      const plain = `[exec][--interactive][--env][BERTH_EXEC=mark][${container.id}]`
      expect(yield* docker({ sudo: false, terminal: undefined })).toMatchObject({ code: 7, stdout: plain + said })
      expect(yield* docker({ sudo: false, terminal })).toMatchObject({
        code: 7,
        stdout: plain.replace("[exec]", "[exec][--tty][--env][TERM=xterm]") + said
      })
    }))
})
