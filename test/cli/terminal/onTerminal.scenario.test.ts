import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { cpSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeImageArchive } from "../../../src/sandbox/projects.ts"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { hiddenIn } from "../../fixtures/hostile/hiddenSigns.ts"
import { openRelay } from "../../fixtures/network/relay.ts"
import { patience } from "../../fixtures/patience.ts"
import { runCli } from "../../fixtures/programs/cli.ts"
import { startService } from "../../fixtures/programs/service.ts"
import { hasTerminal, type OnTerminal, onTerminal } from "../../fixtures/programs/terminal.ts"

const [ctrlC, ctrlD] = ["\u0003", "\u0004"]
const columns = 40

/** The lines that stood on the terminal at some time, without colours and movements of the cursor. */
const linesOf = ({ output }: OnTerminal) => output().replace(/\u001b\[[\d;]*[A-Za-z]/g, "").split(/\r*\n/)
// The terminal's echo of Ctrl-C is overwritten by the line that follows it.
const tooWide = (terminal: OnTerminal) =>
  linesOf(terminal).filter((line) => line.replace(/^\^C\r/, "").length > columns)
const textOf = (terminal: OnTerminal) => linesOf(terminal).map((line) => line.trim()).join(" ")

/** Asks for a deploy, up to its question. */
const asked = (env: Record<string, string>) =>
  Effect.gen(function*() {
    const terminal = yield* onTerminal(["deploy", "hello"], { columns, env })
    yield* terminal.until(/Deploy hello\? \[y\/N\] /)
    return terminal
  })

/** A project whose archive is sent over a line that stops in the middle of it, once that is wanted. */
const brittleWorld = Effect.gen(function*() {
  const world = yield* makeWorld
  const layer = randomBytes(150_000).toString("hex")
  writeFileSync(
    join(world.projects, "hello", "hello.tar"),
    makeImageArchive({ name: "hello:latest", layers: [{ layer }] })
  )
  const relay = yield* openRelay(world.server.port)
  const settings = readFileSync(world.settingsFile, "utf8")
  writeFileSync(world.settingsFile, settings.replace(`port: ${world.server.port}`, `port: ${relay.port}`))
  return { settingsFile: world.settingsFile, relay }
})
const halfway = 100_000
const sending = /load [\d.]+ kB of 3\d\d kB/

describe.skipIf(!hasTerminal)(`berth on a terminal${hasTerminal ? "" : " (needs the script of util-linux)"}`, () => {
  it.scopedLive(
    "shows no sign of the data that would act on it or hide, also with --json",
    () =>
      Effect.gen(function*() {
        const { projects, settingsFile } = yield* makeWorld
        cpSync(join(projects, "hello"), join(projects, "evil\u202e\u200b\u009b2J"), { recursive: true })
        const terminal = yield* onTerminal(["overview", "--json"], { env: { BERTH_CONFIG: settingsFile } })
        expect(yield* terminal.ended).toBe(0)
        expect(terminal.output()).toContain("evil\\u202e\\u200b\\u009b2J")
        // A busy machine answers late: Berth says so meanwhile, and takes the line back.
        const shown = terminal.output().replaceAll("\r", "").replaceAll("\u001b[1A\u001b[0J", "")
        expect(hiddenIn(shown)).toEqual([])
      }),
    60_000 * patience
  )

  it.scopedLive("asks, and goes by y, n, Ctrl-C and Ctrl-D", () =>
    Effect.gen(function*() {
      const { settingsFile } = yield* makeWorld
      const { url } = yield* startService(settingsFile)
      const answered = (keys: string, env: Record<string, string> = {}) =>
        Effect.gen(function*() {
          const terminal = yield* asked({ BERTH_URL: url, ...env })
          yield* terminal.type(keys)
          const code = yield* terminal.ended
          return { code, output: terminal.output(), last: linesOf(terminal).at(-2), wide: tooWide(terminal) }
        })
      const nothing = { last: "Nothing was changed.", wide: [] }
      expect(yield* Effect.all(["n\n", ctrlD, ctrlC].map((keys) => answered(keys)), { concurrency: 3 })).toMatchObject([
        { ...nothing, code: 1 },
        { ...nothing, code: 1 },
        { ...nothing, code: 130 }
      ])
      const plain = yield* answered("y\n", { TERM: "dumb" })
      expect(plain).toMatchObject({ code: 0, wide: [], output: expect.stringContaining("✓ health: healthy") })
      expect(plain.output).not.toContain("\u001b")
      const uncoloured = yield* answered("yes\n", { NO_COLOR: "1" })
      expect(uncoloured).toMatchObject({ code: 0, wide: [] })
      expect(uncoloured.output).not.toContain("\u001b")
    }).pipe(Effect.provide(NodeContext.layer)), 120_000 * patience)

  it.scopedLive(
    "says at Ctrl-C in each stage of a run how to follow and to cancel it, and leaves it alone",
    () =>
      Effect.gen(function*() {
        const { relay, settingsFile } = yield* brittleWorld
        const env = { BERTH_URL: (yield* startService(settingsFile)).url }
        const leave = (terminal: OnTerminal, words: RegExp) =>
          Effect.gen(function*() {
            yield* terminal.type(ctrlC)
            expect(yield* terminal.ended, terminal.output()).toBe(130)
            expect(textOf(terminal)).toMatch(words)
            expect(tooWide(terminal)).toEqual([])
            return words.exec(textOf(terminal))?.[1] ?? ""
          })
        const goesOn =
          /deploy of hello continues\. Follow it with: berth runs (\w{26}) -f Cancel it with: berth cancel \w{26}/
        const waits = /deploy of hello waits for its turn and then continues\. Follow it with: berth runs (\w{26}) -f/
        const [one, other] = yield* Effect.all([asked(env), asked(env)], { concurrency: 2 })
        yield* relay.holdAfter(halfway)
        yield* one.type("y\n")
        // The bytes are counted in place.
        yield* one.until(new RegExp(`${sending.source}[^]*\u001b\\[1A\u001b\\[0J.*${sending.source}`))
        yield* other.type("y\n")
        yield* other.until(/waiting for its\s+turn,\s+behind\s+the\s+deploy\s+of\s+hello\s+by\s/)
        const waiting = yield* leave(other, waits)
        const id = yield* leave(one, goesOn)
        const following = yield* onTerminal(["runs", waiting, "-f"], { columns, env })
        yield* following.until(/waiting for its turn/)
        expect(yield* leave(following, waits)).toBe(waiting)
        const cancelled = yield* onTerminal(["cancel", waiting], { columns, env })
        expect(yield* cancelled.ended, cancelled.output()).toBe(0)
        expect(tooWide(cancelled)).toEqual([])

        yield* relay.cut
        const end = yield* onTerminal(["runs", id, "-f"], { columns, env })
        expect([0, 1]).toContain(yield* end.ended)
        expect(textOf(end)).toMatch(/deploy of hello: (succeeded|failed)/)
        const logs = yield* onTerminal(["logs", "greeter", "-f"], { columns, env })
        yield* logs.until(/ \| /)
        yield* logs.type(ctrlC)
        expect(yield* logs.ended).toBe(130)
      }).pipe(Effect.provide(NodeContext.layer)),
    120_000 * patience
  )

  it.scopedLive(
    "waits for a run that no service carries, asks about it at the second Ctrl-C, and leaves at the third",
    () =>
      Effect.gen(function*() {
        const { relay, settingsFile } = yield* brittleWorld
        // The first contact is told once, with a fingerprint that no line of this terminal holds.
        yield* runCli({ settingsFile }, ["ps"])
        const alone = yield* asked({ BERTH_CONFIG: settingsFile })
        yield* relay.holdAfter(halfway)
        yield* alone.type("y\n")
        yield* alone.until(sending)
        // A second command reports the run ahead of it.
        const another = yield* onTerminal(["deploy", "hello", "--yes"], { env: { BERTH_CONFIG: settingsFile } })
        yield* another.until(/! Waiting for another berth: deploy of hello, process \d+/)
        yield* alone.type(ctrlC)
        yield* alone.until(/asks\s+whether\s+to\s+cancel\s+it/)
        expect(textOf(alone)).toContain("The deploy of hello continues until it has ended; waiting for it")
        yield* alone.type(ctrlC)
        yield* alone.until(/Cancel the deploy of hello/)
        yield* alone.type(ctrlC)
        expect(yield* alone.ended).toBe(130)
        expect(tooWide(alone)).toEqual([])
      }).pipe(Effect.provide(NodeContext.layer)),
    120_000 * patience
  )
})
