import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Predicate } from "effect"
import { dirname } from "node:path"
import { makeWorld } from "../../src/sandbox/world.ts"
import { patience } from "../fixtures/patience.ts"
import { runCli, type Way } from "../fixtures/programs/cli.ts"
import { startService } from "../fixtures/programs/service.ts"
import { settleOutput } from "../fixtures/programs/settleOutput.ts"
import { inPart } from "../fixtures/thorough.ts"

/** Read-only commands, which run with `--json` too. */
const reads = [
  "overview",
  "deploy hello --dry-run",
  "ps",
  "server list",
  "server scan sandbox",
  "server test sandbox",
  "diff hello",
  "releases hello",
  "app plan hello",
  "app drift hello",
  "app list",
  "app servers",
  "route list",
  "port",
  "port --evidence",
  "hook status",
  "runs"
]
/** Every command, in an order in which each finds what it needs. */
const commands = [
  ...reads,
  "init notes --yes",
  "deploy hello",
  "deploy hello --yes",
  "deploy hello --yes",
  "deploy nobody --yes",
  "overview",
  "diff hello",
  "releases hello",
  "releases hello 1 2",
  "rollback hello --dry-run",
  "restart hello --yes",
  "stop hello --yes",
  "start hello",
  "rollback hello --yes",
  "logs hello --lines 3",
  "logs nobody",
  "pull .env hello",
  "ps sandbox",
  "ps nobody",
  "server stats sandbox",
  "server stats sandbox --minutes 30",
  "server add Attic ann@attic.invalid --agent",
  "server remove nobody --yes",
  "server remove attic",
  "server remove attic --yes",
  "app up hello",
  "app up hello --yes",
  "app up hello --yes",
  "app plan hello",
  "app drift hello",
  "app show hello",
  "app envs hello",
  "app changelog hello",
  "app adopt hello ./nowhere",
  "app deploy hello --yes",
  "hook status",
  "hook setup hello --yes",
  "hook test hello",
  "hook remove hello --yes",
  "route add other other.sandbox.test 2100 --dry-run",
  "route add other other.sandbox.test 2100 --yes",
  "route list",
  "route remove other --dry-run",
  "route remove other --yes",
  "app delete hello --yes",
  "app delete hello --yes",
  "remove hello --yes",
  "runs",
  "runs 01m80yqq5mpfzvahn1sfvx7mvm",
  "cancel 01m80yqq5mpfzvahn1sfvx7mvm"
]

/** A text without what is another one each time. */
const settled = (text: string, world: string) =>
  settleOutput(text, { WORLD: world, HERE: process.cwd() })
    // Details of steps come from other programs.
    .replaceAll(/(?<=^2> ✓ \w+):.*$/gm, "")
    .split("\n")
    // Docker's output and starting steps have no fixed order; any process may listen on a port.
    .filter((line) => !/^2> (•| +(Container|Loaded)\b)|^2> \w+ {2}socket/.test(line))
    .join("\n")

const entryOf = (way: Way, world: string) => (line: string) =>
  Effect.map(
    runCli(way, line.split(" ")),
    ({ code, err, out }) =>
      `$ berth ${line}\n${settled(`${out}${err.replaceAll(/^(?=.)/gm, "2> ")}`, world)}exit ${code}\n`
  )

const fieldsOf = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.slice(0, 1).map(fieldsOf)
    : Predicate.isRecord(value)
    // Changes are counted as far as there is time.
    ? Object.fromEntries(
      Object.entries(value).map(([name, field]) => [name, name === "changes" ? "" : fieldsOf(field)])
    )
    : typeof value

/** Waits until the service has counted the changes of a project, which takes longer than one look on a busy machine. */
const counted = (way: Way) =>
  runCli(way, ["overview", "--json"]).pipe(
    Effect.repeat({
      until: ({ out }) => /"name":\s*"hello"[^[]*"changes":\s*\d/.test(out),
      times: 20
    })
  )

/** Shape of a response, by its first entries. */
const jsonOf = (way: Way) => (line: string) =>
  Effect.map(runCli(way, [...line.split(" "), "--json"]), ({ err, out }) => {
    expect([line, err]).toEqual([line, ""])
    return [line, fieldsOf(JSON.parse(out))]
  })

describe.skipIf(process.platform === "win32")("every command, piped", () => {
  it.scopedLive("says the same at a service and without one", () =>
    Effect.gen(function*() {
      const [there, here] = [yield* makeWorld, yield* makeWorld]
      const over = { url: (yield* startService(there.settingsFile)).url }
      const alone = { settingsFile: here.settingsFile }
      const asJson = [...reads, "doctor"]
      const answers = yield* Effect.forEach(asJson, jsonOf(over))
      expect(yield* Effect.forEach(inPart(asJson, asJson.slice(0, 4)), jsonOf(alone))).toEqual(
        inPart(answers, answers.slice(0, 4))
      )
      const entry = entryOf(over, dirname(there.settingsFile))
      const transcript = yield* Effect.forEach(
        commands,
        (line) => line === "overview" ? Effect.zipRight(counted(over), entry(line)) : entry(line)
      )
      yield* Effect.promise(() => expect(transcript.join("\n")).toMatchFileSnapshot("transcript.txt"))
      const some = commands.slice(0, inPart(reads.length + 3, 8))
      expect(yield* Effect.forEach(some, entryOf(alone, dirname(here.settingsFile)))).toEqual(
        transcript.slice(0, some.length)
      )
    }).pipe(Effect.provide(NodeContext.layer)), 240_000 * patience)
})
