import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type { CommandNode } from "../../src/cli/parse.ts"
import { berthCommand } from "../../src/cli/program.ts"
import { version } from "../../src/schema/session.ts"
import { runCli, type Terminal } from "../fixtures/programs/cli.ts"

// None of these asks a service.
const run = (args: ReadonlyArray<string>, terminal?: Terminal) => runCli({ url: "http://127.0.0.1:1" }, args, terminal)

interface Known {
  readonly path: ReadonlyArray<string>
  readonly node: CommandNode
}
const allOf = (node: CommandNode, path: ReadonlyArray<string>): ReadonlyArray<Known> => [
  { path, node },
  ...node.children.flatMap((child) => allOf(child, [...path, child.name]))
]
const commands = allOf(berthCommand, [])

const refusals: ReadonlyArray<readonly [args: ReadonlyArray<string>, message: string]> = [
  [["deploi"], "berth has no command \"deploi\". Did you mean \"deploy\"? See berth --help"],
  [["server", "lst"], "berth server has no command \"lst\". Did you mean \"list\"? See berth server --help"],
  [["deploy", "--jsno"], "berth deploy has no option \"--jsno\". Did you mean \"--json\"? See berth deploy --help"],
  [["deploy", "--wizard"], "berth deploy has no option \"--wizard\". See berth deploy --help"],
  [["runs", "--limit", "abc"], "--limit must be a whole number from 1 to 500, not \"abc\""],
  [["runs", "--limit", "0"], "--limit must be a whole number from 1 to 500, not \"0\""],
  [["app", "changelog", "--before", "0"], "--before must be a whole number from 1 on, not \"0\""],
  [["app", "changelog", "--limit", "999"], "--limit must be a whole number from 1 to 100, not \"999\""],
  [["logs", "--lines", "abc"], "--lines must be a whole number, not \"abc\""],
  [["runs", "--limit"], "--limit needs a value: --limit <number>"],
  [["logs", "--since", "--follow"], "--since needs a value: --since <time>"],
  [["deploy", "--yes=no"], "--yes takes no value"],
  [
    ["sandbox", "--vendor", "coolfy"],
    "--vendor must be neutral or coolify, not \"coolfy\". Did you mean \"coolify\"?"
  ],
  [["cancel"], "berth cancel needs <run>: The id of a run; berth runs lists them."],
  [["deploy", "a", "b"], "berth deploy takes only project: \"b\" is one too many"],
  [["doctor", "x"], "berth doctor takes no argument: \"x\" is one too many"]
]

describe("berth", () => {
  it.effect.each(refusals)("%j is refused as usage", ([args, message]) =>
    Effect.gen(function*() {
      expect(yield* run(args)).toEqual({ code: 64, out: "", err: `Error: ${message}\n`, shown: [] })
    }))

  it.effect.each(commands)(
    "has help for $path that fits on 40 columns, and that pipes take without colours",
    (known) =>
      Effect.gen(function*() {
        const { node, path } = known
        const wide = yield* run([...path, "--help"])
        expect(wide).toMatchObject({ code: 0, err: "" })
        expect(wide.out).not.toMatch(/\u001b|user-defined|undefined/)
        expect(wide.out).toContain(`  ${["berth", ...path].join(" ")}`)
        for (const { name } of node.options) expect(wide.out).toContain(`--${name}`)
        const narrow = yield* run(["help", ...path], { columns: 40 })
        const examples = new Set(node.examples.map((example) => `  ${example}`))
        for (const line of narrow.out.split("\n")) {
          if (!examples.has(line) && !line.startsWith("  berth")) expect(line.length, line).toBeLessThanOrEqual(40)
        }
      })
  )

  it.effect("says its version, and shows a group's help where a command is missing", () =>
    Effect.gen(function*() {
      expect((yield* run(["--version"])).out).toBe(`${version}\n`)
      expect(yield* run(["server"])).toMatchObject({ code: 64, out: "", err: expect.stringContaining("Commands\n") })
    }))

  it.effect("takes options before the command as its own", () =>
    Effect.gen(function*() {
      const { code, err } = yield* run(["--url", "http://127.0.0.1:2", "doctor"])
      expect(err).toContain("Cannot reach Berth at http://127.0.0.1:2: nothing listens there")
      expect(code).toBe(1)
    }))

  it.effect("says a failure as JSON too where JSON is asked for", () =>
    Effect.gen(function*() {
      const { err, out } = yield* run(["server", "list", "--json"])
      expect(`Error: ${JSON.parse(out).error}\n`).toBe(err)
    }))
})

describe("the environment of a project", () => {
  const taking = (option: string) =>
    commands.filter(({ node }) => node.options.some(({ name }) => name === option)).map(({ path }) => path.join(" "))

  it("can be named wherever a server can, but for what writes container.json", () => {
    expect(taking("server").length).toBeGreaterThan(10)
    expect(taking("server").filter((command) => !taking("env").includes(command))).toEqual(["init"])
  })

  it("is confirmed by its name in every command that changes a stack", () => {
    expect(taking("confirm")).toEqual(
      expect.arrayContaining(["deploy", "rollback", "start", "stop", "restart", "remove", "restore"])
    )
  })
})
