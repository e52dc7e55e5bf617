import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { makeWorld } from "../../src/sandbox/world.ts"
import { patience } from "../fixtures/patience.ts"
import { runCli } from "../fixtures/programs/cli.ts"
import { startService } from "../fixtures/programs/service.ts"

/** Every command that asks before it changes anything, and its question. */
const asking: ReadonlyArray<readonly [line: string, question: string]> = [
  ["deploy hello", "Deploy hello?"],
  ["rollback hello", "Roll ~/containers/hello on Sandbox back to release 1?"],
  ["rollback hello 2", "Roll ~/containers/hello on Sandbox back to release 2?"],
  ["init notes", "Write 6 files to PROJECTS/notes?"],
  ["stop hello", "Stop the stack at ~/containers/hello on Sandbox?"],
  ["restart hello", "Restart the stack at ~/containers/hello on Sandbox?"],
  ["remove hello", "Remove the stack at ~/containers/hello on Sandbox? Its data/ and volumes stay."],
  [
    "remove hello --volumes",
    "Remove the stack at ~/containers/hello on Sandbox, and its volumes with all that is in them?"
  ],
  ["app up hello", "Create hello?"],
  ["app deploy greeter", "Deploy greeter on the platform?"],
  ["app delete greeter", "Delete greeter from the platform, with all that it keeps of it?"],
  ["route add made made.sandbox.test 2050", "Send requests for made.sandbox.test to port 2050?"],
  ["route remove greeter", "Remove the route greeter?"],
  ["hook setup greeter", "Make pushes deploy greeter?"],
  ["hook setup", "Make pushes deploy all applications?"],
  ["hook remove greeter", "Remove the webhooks of greeter?"],
  ["server remove sandbox", "Forget the server Sandbox and its stored credentials?"]
]

describe.skipIf(process.platform === "win32")("a command that asks", () => {
  it.scopedLive("changes nothing at a no, and where nobody can answer", () =>
    Effect.gen(function*() {
      const { projects, proxyFile, settingsFile } = yield* makeWorld
      const { url } = yield* startService(settingsFile)
      // The host key would be the next question.
      const taken = "server add Sandbox ann@far.invalid --agent".split(" ")
      const kept = yield* runCli({ url }, taken, { columns: 100, answers: [false] })
      expect([kept.code, kept.err]).toEqual([
        1,
        expect.stringMatching(
          /^The server Sandbox is stored already, .*\nReplace it\? \[y\/N\] \nNothing was changed\.\n$/
        )
      ])
      expect((yield* runCli({ url }, [...taken, "--dry-run"], { answers: [] })).err).toContain(
        "--id sandbox --agent --dry"
      )
      // Two releases, to go back to one.
      for (const _ of [1, 2]) expect((yield* runCli({ url }, ["deploy", "hello", "--yes"])).code).toBe(0)
      const state = Effect.gen(function*() {
        const stacks = yield* runCli({ url }, ["server", "scan", "sandbox", "--json"])
        const apps = yield* runCli({ url }, ["app", "list", "--json"])
        const runs = yield* runCli({ url }, ["runs", "--json"])
        return [
          stacks.out,
          apps.out,
          runs.out,
          readFileSync(proxyFile, "utf8"),
          readFileSync(settingsFile, "utf8"),
          readdirSync(`${projects}/notes`)
        ]
      })
      const before = yield* state
      for (const [line, words] of asking) {
        const question = words.replace("PROJECTS", projects)
        const args = line.split(" ")
        const refused = yield* runCli({ url }, args, { columns: 100, answers: [false] })
        expect([line, refused.code, refused.err]).toEqual([line, 1, expect.stringContaining(`${question} [y/N]`)])
        expect(refused.err).toMatch(/Nothing was changed\.\n$/)
        const nobody = yield* runCli({ url }, args)
        expect([line, nobody.code, nobody.err]).toEqual([
          line,
          64,
          expect.stringContaining(`Error: There is no terminal to ask on: "${question}" Add --yes\n`)
        ])
      }
      expect(yield* state).toEqual(before)
    }).pipe(Effect.provide(NodeContext.layer)), 120_000 * patience)
})
