import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeWorld } from "../../src/sandbox/world.ts"
import { patience } from "../fixtures/patience.ts"
import { runCli } from "../fixtures/programs/cli.ts"
import { leafCommands } from "../fixtures/programs/leafCommands.ts"
import { startService } from "../fixtures/programs/service.ts"
import { temporaryDirectory } from "../layers/temporary.ts"

/** Values that fit where they stand, by the name of the argument. */
const sound: Readonly<Record<string, string>> = {
  address: "ann@attic.invalid",
  application: "greeter",
  domain: "a.sandbox.test",
  name: "hello",
  port: "2050",
  project: "hello",
  release: "1",
  run: "01m80yqq5mpfzvahn1sfvx7mvm",
  server: "sandbox"
}

const wrong = ["", "aaaa", "-1", "../..", "/nowhere/at/all", "a\nb", "x".repeat(5_000)]

/** Terms of the HTTP interface and of programs, which no command line has. */
const foreign =
  /projectPath|serverId must|(?<!--)remotePath(?! in container\.json)|containerName|routeName|appName|hostKey|newId|planHash|useSudo|privateKey|files\[|query parameter|known field|expected shape|request or its answer|must be an? (Struct|NullOr)|undefined|\[object/

/** Every option and argument of every command, in turn with each wrong value. */
const lines = leafCommands.flatMap(({ node, path }) => {
  const given = node.arguments.map(({ name }) => sound[name] ?? "hello")
  const needed = given.slice(0, node.arguments.filter(({ optional }) => !optional).length)
  return wrong.flatMap((value) => [
    ...node.options.filter((option) => option.value !== undefined && !["url", "config"].includes(option.name)).map(
      ({ name }) => [...path, `--${name}=${value}`, ...(node.arguments[0]?.name === "project" ? ["hello"] : needed)]
    ),
    ...node.arguments.map((_, index) => [...path, "--", ...given.map((each, at) => at === index ? value : each)])
  ])
})

describe.skipIf(process.platform === "win32")("a wrong value", () => {
  it.scopedLive("is told in the words of the command line, whatever it stands for", () =>
    Effect.gen(function*() {
      const { settingsFile } = yield* makeWorld
      const { url } = yield* startService(settingsFile)
      // `--report` writes a file of that name where the command runs.
      const here = process.cwd()
      process.chdir(yield* temporaryDirectory)
      yield* Effect.addFinalizer(() => Effect.sync(() => process.chdir(here)))
      expect(lines.length).toBeGreaterThan(400)
      const odd: Array<unknown> = []
      for (const line of lines) {
        // `--follow` would never end if the value happened to be valid.
        const { code, err } = yield* runCli({ url }, line.filter((word) => word !== "-f")).pipe(
          Effect.timeoutTo({
            duration: "15 seconds",
            onSuccess: (ran) => ran,
            onTimeout: () => ({ code: -1, err: "" })
          })
        )
        const isPlain = !foreign.test(err.replace(/"[^"]*"/g, "\"…\""))
        if (!isPlain || ![0, 1, 2, 3, 64].includes(code) || err.length > 7_000) {
          odd.push([line.join(" ").slice(0, 80), code, err.slice(0, 300)])
        }
      }
      expect(JSON.stringify(odd, undefined, 1)).toBe("[]")
    }).pipe(Effect.provide(NodeContext.layer)), 300_000 * patience)

  it.scopedLive("is a matter of usage where its form is refused", () =>
    Effect.gen(function*() {
      const { settingsFile } = yield* makeWorld
      const { url } = yield* startService(settingsFile)
      const told: ReadonlyArray<readonly [line: string, words: string]> = [
        ["server test sandbox --host-key aaaa", "--host-key must be a fingerprint"],
        ["server add Attic ann@attic.invalid --host-key aaaa", "--host-key must be a fingerprint"],
        ["server add Attic ann@attic.invalid --port 0", "The port must be a whole number"],
        ["logs hello --lines 0", "--lines must be"],
        ["logs hello --since yesterday", "--since must be"],
        ["deploy hello --path /", "--path"],
        ["stop hello --path .. --yes", "--path"],
        ["runs --limit 501", "--limit must be"],
        ["route add a a.sandbox.test 0 --yes", "<port> must be"],
        ["pull ../x hello", "<name>"]
      ]
      for (const [line, words] of told) {
        const { code, err } = yield* runCli({ url }, line.split(" "))
        expect([line, code, err]).toEqual([line, 64, expect.stringContaining(words)])
      }
      const { out } = yield* runCli({ url }, ["server", "test", "sandbox", "--host-key", "aaaa", "--json"])
      expect(JSON.parse(out)).toEqual({ error: expect.stringMatching(/^hostKey must be a fingerprint/) })
    }).pipe(Effect.provide(NodeContext.layer)), 60_000 * patience)
})
