import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { berthCommand } from "../../../src/cli/commands.ts"
import { completionOf } from "../../../src/cli/commands/completions.ts"
import { runCli } from "../../fixtures/cli.ts"

const hasBash = spawnSync("bash", ["--version"]).status === 0

/** What bash would offer for the last of these words. */
const offered = (...words: ReadonlyArray<string>) => {
  const list = words.map((word) => `'${word}'`).join(" ")
  const script = `${completionOf("bash", berthCommand)}
COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _berth; printf '%s\\n' "\${COMPREPLY[@]}"`
  return spawnSync("bash", ["-c", script], { encoding: "utf8" }).stdout.trim().split("\n")
}

it.skipIf(!hasBash)(
  `bash offers the commands, those of a group, and the options${hasBash ? "" : " (needs bash)"}`,
  () => {
    expect(offered("berth", "dep")).toEqual(["deploy"])
    expect(offered("berth", "server", "s")).toEqual(["scan", "stats"])
    expect(offered("berth", "deploy", "hello", "--d")).toEqual(["--dry-run", "--detailed-exitcode"])
    expect(offered("berth", "app", "up", "--y")).toEqual(["--yes"])
  }
)

it.effect("zsh and fish have a script too, and others are refused", () =>
  Effect.gen(function*() {
    const print = (shell: string) => runCli({ url: "http://127.0.0.1:1" }, ["completions", shell])
    expect((yield* print("zsh")).out).toContain("bashcompinit")
    expect((yield* print("fish")).out).toContain("complete -c berth -n __fish_use_subcommand -a deploy ")
    expect(yield* print("cmd")).toMatchObject({ code: 64, err: expect.stringContaining("and not for \"cmd\"") })
  }))
