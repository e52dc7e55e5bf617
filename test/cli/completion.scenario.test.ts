import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { chmodSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { scripts } from "../../src/cli/completion.ts"
import { makeWorld } from "../../src/sandbox/world.ts"
import { compiled } from "../fixtures/compiled.ts"
import { patience } from "../fixtures/patience.ts"
import { runCli } from "../fixtures/programs/cli.ts"
import { startService } from "../fixtures/programs/service.ts"
import { temporaryDirectory } from "../layers/temporary.ts"

const quoted = (words: ReadonlyArray<string>) => words.map((word) => `'${word}'`).join(" ")

/** A script in which each shell prints what it would offer for the last of these words. */
const offering: Readonly<Record<string, (words: ReadonlyArray<string>) => string>> = {
  bash: (words) =>
    `${scripts["bash"]}\nCOMP_WORDS=(${quoted(words)}); COMP_CWORD=${words.length - 1}; _berth\n` +
    `printf '%s\\n' "\${COMPREPLY[@]}"`,
  // zsh's display of candidates needs an interactive line editor.
  zsh: (words) =>
    `compdef() { : }; _files() { print files }; compadd() { shift; print -l -- "$@" }\n${scripts["zsh"]}\n` +
    `words=(${quoted(words)}); CURRENT=${words.length}; _berth`,
  fish: (words) => `${scripts["fish"]}\ncomplete -C "${words.join(" ")}" | string split -f1 \\t`
}
const shells = Object.keys(offering).map((shell) => ({ shell, has: spawnSync(shell, ["--version"]).status === 0 }))

describe.skipIf(process.platform === "win32")("completion", () => {
  it.scopedLive("names what the service knows, and says nothing where it cannot tell", () =>
    Effect.gen(function*() {
      const { settingsFile } = yield* makeWorld
      const { url } = yield* startService(settingsFile)
      const lines = (...words: ReadonlyArray<string>) =>
        Effect.map(runCli({ url }, ["complete", ...words]), ({ code, err, out }) => {
          expect({ code, err }).toEqual({ code: 0, err: "" })
          return out.trimEnd().split("\n").sort()
        })
      expect(yield* lines("deploy", "")).toEqual(["hello", "notes"])
      expect(yield* lines("ps", "S")).toEqual(["Sandbox"])
      expect(yield* lines("route", "remove", "")).not.toEqual([""])
      expect(yield* lines("app", "show", "nobody")).toEqual([""])
      yield* runCli({ url }, ["deploy", "hello", "--yes"])
      expect(yield* lines("rollback", "hello", "")).toEqual([""])
      const [run = ""] = yield* lines("cancel", "")
      expect(run).toMatch(/^\w{26}$/)
      yield* runCli({ url }, ["restart", "hello", "--yes"])
      writeFileSync(join(settingsFile, "..", "projects", "hello", ".env"), "HOST_PORT=2004\nMORE=1\n")
      yield* runCli({ url }, ["deploy", "hello", "--yes"])
      expect(yield* lines("rollback", "hello", "")).toEqual(["1"])
      expect(yield* lines("rollback", "nobody", "")).toEqual([""])
      expect(yield* runCli({ url: "http://127.0.0.1:1" }, ["complete", "deploy", ""])).toMatchObject({
        code: 0,
        out: "",
        err: ""
      })
    }).pipe(Effect.provide(NodeContext.layer)), 120_000 * patience)

  describe.each(shells)("in $shell", ({ has, shell }) => {
    it.scopedLive.skipIf(!has)(
      `offers commands, options and names${has ? "" : ` (needs ${shell})`}`,
      () =>
        Effect.gen(function*() {
          const { settingsFile } = yield* makeWorld
          const { url } = yield* startService(settingsFile)
          const bin = yield* temporaryDirectory
          const berth = join(bin, "berth")
          writeFileSync(berth, `#!/bin/sh\nexec ${process.execPath} ${compiled("src/cli/berth.ts")} "$@"\n`)
          chmodSync(berth, 0o755)
          const offered = (...words: ReadonlyArray<string>) =>
            Effect.async<ReadonlyArray<string>>((resume) => {
              const env = { ...process.env, BERTH_URL: url, PATH: [bin, process.env["PATH"] ?? ""].join(delimiter) }
              execFile(
                shell,
                ["-c", offering[shell]?.(["berth", ...words]) ?? ""],
                { env, cwd: bin },
                (_, out, err) => resume(Effect.succeed((out + err).trim().split("\n").sort()))
              )
            })
          expect(yield* offered("dep")).toEqual(["deploy"])
          expect(yield* offered("server", "s")).toEqual(["scan", "stats"])
          expect(yield* offered("deploy", "hello", "--d")).toEqual(["--detailed-exitcode", "--dry-run"])
          expect(yield* offered("deploy", "")).toEqual(["hello", "notes"])
        }).pipe(Effect.provide(NodeContext.layer)),
      120_000 * patience
    )
  })
})
