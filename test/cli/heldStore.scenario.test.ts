import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Option, Redacted, Schedule } from "effect"
import type { Scope } from "effect"
import { writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import { dirname, join } from "node:path"
import type { CommandNode } from "../../src/cli/parse.ts"
import { berthCommand } from "../../src/cli/program.ts"
import { makeWorld } from "../../src/sandbox/world.ts"
import type { RunStoreUnavailable } from "../../src/schema/runs.ts"
import { openDatabaseFile, release } from "../../src/services/state/databaseFile.ts"
import { announceService, challengeHeader, computeProof, proofHeader } from "../../src/services/state/discovery.ts"
import { makeRunStoreIn } from "../../src/services/state/RunStoreLive.ts"
import { settingsTest } from "../../src/testing/SettingsTest.ts"
import { type ProcessEnd, spawnBerth } from "../fixtures/berthProcess.ts"
import { compiled } from "../fixtures/compiled.ts"
import { patience } from "../fixtures/patience.ts"
import { stored, storedRun } from "../fixtures/runs/storedRuns.ts"
import { inPart } from "../fixtures/thorough.ts"
import { eventually } from "../sandbox/eventually.ts"

/** Commands that go on until they are ended, or that ask no service. */
const apart = ["serve", "sandbox", "mcp", "completions", "ci"]

/** Values that fit where they stand, by the name of the argument. */
const sound: Readonly<Record<string, string>> = {
  address: "ann@attic.invalid",
  application: "greeter",
  domain: "a.sandbox.test",
  port: "2050",
  recipient: "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kudtzqgrsmqvtkq",
  release: "1",
  run: "01m80yqq5mpfzvahn1sfvx7mvm",
  server: "sandbox",
  setting: "deploy.healthTimeout",
  value: "20 seconds"
}

interface Leaf {
  readonly path: ReadonlyArray<string>
  readonly node: CommandNode
}

const leaves = (node: CommandNode, path: ReadonlyArray<string> = []): ReadonlyArray<Leaf> =>
  node.children.length === 0
    ? [{ path, node }]
    : node.children.flatMap((child) => leaves(child, [...path, child.name]))

/** Each command with every argument that it takes, and with the consent that it needs. */
const commands = leaves(berthCommand).filter(({ path }) => !apart.includes(path[0] ?? "")).map(({ node, path }) => [
  ...path,
  ...node.arguments.map(({ name }) => sound[name] ?? "hello"),
  ...node.options.some(({ name }) => name === "yes") ? ["--yes"] : [],
  ...node.behind === undefined ? [] : ["--", "true"]
])

const some = inPart(commands, commands.filter((_, index) => index % 8 === 0))
const token = "t".repeat(43)
const wasAsked = "this service was asked"

/** Listens as a service does, and answers every request but that for a proof with a failure; or none at all. */
const listenAs = (kind: "alive" | "frozen"): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() =>
      new Promise<Server>((resolve) => {
        const server = createServer((request, response) => {
          if (kind === "frozen") return
          const challenge = String(request.headers[challengeHeader] ?? "")
          const proof = computeProof(Redacted.make(token), challenge)
          if (proof !== undefined) response.setHeader(proofHeader, proof)
          const status = proof === undefined ? 503 : 200
          response.writeHead(status, { "content-type": "application/json" })
          response.end(JSON.stringify(status === 200 ? { status: "ok" } : { error: wasAsked }))
        })
        server.listen(0, "127.0.0.1", () => resolve(server))
      })
    ),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  ).pipe(Effect.map((server) => {
    const address = server.address()
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  }))

/** Holds a store of runs with a note: as a service at the address if there is one, else as a command. */
const holdNamed = (address: Option.Option<string>) => (file: string) =>
  Effect.gen(function*() {
    if (Option.isSome(address)) yield* announceService(dirname(file), { address: address.value, token })
    const { history } = yield* Effect.provide(makeRunStoreIn(file, "20 seconds"), settingsTest())
    yield* history.insert(stored(storedRun(1, { state: "running" })))
  })

/** Holds a store of runs without a note. */
const holdUnnamed = (file: string) =>
  Effect.acquireRelease(
    Effect.promise(() => openDatabaseFile(file)),
    ({ database }) => Effect.sync(() => release(database))
  )

/** A sandbox whose store of runs this process holds. */
const hold = (holding: (file: string) => Effect.Effect<unknown, RunStoreUnavailable, Scope.Scope>) =>
  Effect.gen(function*() {
    const { settingsFile } = yield* makeWorld
    const directory = dirname(settingsFile)
    const env = { BERTH_CONFIG: settingsFile, BERTH_URL: "", BERTH_TOKEN: "", BERTH_NO_BROWSER: "1" }
    const start = (words: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) =>
      spawnBerth({ ...env, ...more }, [compiled("src/cli/berth.ts"), ...words])
    // A busy machine takes a while for commands that wait for nobody.
    const [took] = yield* Effect.timed(Effect.flatMap(start(["server", "list"]), ({ ended }) => ended))
    const slack = 3 * Duration.toSeconds(took)
    const file = join(directory, "berth.db")
    yield* holding(file)
    return {
      note: `${file}.holder`,
      record: join(directory, "berth.service"),
      start,
      /** Runs a command to its end; interrupts it when it is still there after a while, or says that it waits. */
      run: (words: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}, waits?: RegExp) =>
        Effect.scoped(Effect.gen(function*() {
          const command = yield* start(words, more)
          const said = waits === undefined
            ? Effect.never
            : Effect.suspend(() => waits.test(command.output()) ? Effect.void : Effect.fail("silent")).pipe(
              Effect.retry(Schedule.spaced("100 millis"))
            )
          const [elapsed, end] = yield* Effect.timed(
            Effect.raceFirst(Effect.asSome(command.ended), Effect.as(said, Option.none<ProcessEnd>())).pipe(
              Effect.timeoutTo({
                duration: Duration.seconds(8 + slack),
                onSuccess: (end) => end,
                onTimeout: Option.none<ProcessEnd>
              })
            )
          )
          if (Option.isNone(end)) yield* command.kill("SIGINT")
          const { code } = yield* Effect.orDie(Effect.timeout(command.ended, Duration.seconds(10 + slack)))
          return {
            command: words.join(" "),
            hasEnded: Option.isSome(end),
            code,
            output: command.output(),
            seconds: Math.max(0, Duration.toSeconds(elapsed) - slack)
          }
        }))
    }
  })

const notice = /since \d\d:\d\d:\d\d(?: \(Ctrl-C ends it\)|; for half a minute at most)/

const waitsForAnother = /Waiting for another berth: deploy of shop, process \d+, since/

/** Commands that change nothing, and so end by themselves. */
const reading = /^(?:$|runs|ps|logs|diff|releases|doctor|server (?:list|scan|disk)|app (?:list|drift|envs)|port)/
const reads = (words: ReadonlyArray<string>) => reading.test(words.join(" "))

const ways = ["record", "note", "BERTH_URL", "--url"] as const

describe.skipIf(process.platform === "win32")("each command, where the store of runs is held", () => {
  it.scopedLive("uses the service that holds it, whichever way it learns its address", () =>
    Effect.gen(function*() {
      const address = yield* listenAs("alive")
      const { record, run } = yield* hold(holdNamed(Option.some(address)))
      const odd: Array<unknown> = []
      for (const way of ways) {
        if (way === "record") {
          writeFileSync(record, JSON.stringify({ address, token, pid: process.pid }), { mode: 0o600 })
        } else writeFileSync(record, "", { mode: 0o600 })
        // The record decides about the others too: one of them for each command.
        const own = way === "record" ? inPart(some, some.filter((_, index) => index % ways.length === 0)) : some.filter(
          (_, index) => ways[1 + index % (ways.length - 1)] === way
        )
        const ends = yield* Effect.forEach(own, (words) => {
          const [before, behind] = words.includes("--")
            ? [words.slice(0, words.indexOf("--")), words.slice(words.indexOf("--"))]
            : [words, []]
          return way === "--url"
            ? run([...before, "--url", address, ...behind], { BERTH_TOKEN: token })
            : run(words, way === "BERTH_URL" ? { BERTH_URL: address, BERTH_TOKEN: token, BERTH_CONFIG: "" } : {})
        }, { concurrency: 2 })
        for (const end of ends) {
          const isUsed = end.hasEnded && end.output.includes(wasAsked) && !end.output.includes("another berth")
          if (!isUsed || end.seconds > 5 * patience) odd.push([way, end])
        }
      }
      expect(JSON.stringify(odd, undefined, 1)).toBe("[]")
    }).pipe(Effect.provide(NodeContext.layer)), 600_000 * patience)

  it.scopedLive("says that the service does not answer, and ends, or goes on without it", () =>
    Effect.gen(function*() {
      const address = yield* listenAs("frozen")
      const { record, run } = yield* hold(holdNamed(Option.some(address)))
      writeFileSync(record, JSON.stringify({ address, token, pid: process.pid }), { mode: 0o600 })
      const ends = yield* Effect.forEach(some, (words) => run(words), { concurrency: 2 })
      const odd = ends.filter(({ hasEnded, output, seconds }) =>
        !hasEnded || !output.includes(`Waiting for the service at ${address} (process ${process.pid})`) ||
        !notice.test(output) || (output.includes("uses it") && seconds > 5 * patience)
      )
      expect(JSON.stringify(odd, undefined, 1)).toBe("[]")
      const runs = ends.find(({ command }) => command.startsWith("runs"))
      if (runs !== undefined) expect(runs.output).toContain("or stop it if it does not answer")
      // Named by its address, it is waited for.
      const named = yield* run(["server", "list", "--url", address])
      expect(named).toMatchObject({ hasEnded: false, code: 130 })
      expect(named.output).toMatch(new RegExp(`Waiting for ${address}, ${notice.source}`))
    }).pipe(Effect.provide(NodeContext.layer)), 600_000 * patience)

  it.scopedLive(
    "waits for another command only where it changes something, says so, and ends with Ctrl-C",
    () =>
      Effect.gen(function*() {
        const { run } = yield* hold(holdNamed(Option.none()))
        const ends = yield* Effect.forEach(
          some,
          (words) => run(words, {}, reads(words) ? undefined : waitsForAnother),
          { concurrency: 2 }
        )
        const odd = ends.filter(({ code, hasEnded, output, seconds }) =>
          hasEnded
            ? code === 130 || (seconds > 2 * patience && !notice.test(output))
            : code !== 130 || !waitsForAnother.test(output)
        )
        expect(JSON.stringify(odd, undefined, 1)).toBe("[]")
        const waiting = ends.filter(({ command, hasEnded }) => !hasEnded && reading.test(command))
        expect(waiting.map(({ command }) => command)).toEqual([])
      }).pipe(Effect.provide(NodeContext.layer)),
    600_000 * patience
  )

  it.scopedLive("says that the process that holds it is unknown, and ends", () =>
    Effect.gen(function*() {
      const { run } = yield* hold(holdUnnamed)
      const words = [["runs"], ["doctor"], ["deploy", "hello", "--yes"]]
      const ends = yield* Effect.forEach(words, (words) => run(words), { concurrency: 2 })
      // The checks of doctor do not wait for the store longer than for anything else: a quick one has nothing to announce.
      const odd = ends.filter(({ command, hasEnded, output, seconds }) =>
        !hasEnded ||
        (command !== "doctor" &&
          !/another berth, which has not said who it is, since [\d:]{8} \(Ctrl-C ends it\)/.test(output)) ||
        !/another Berth of this machine, which has not said who it is,\s+uses\s+it/.test(output) ||
        seconds > 5 * patience
      )
      expect(JSON.stringify(odd, undefined, 1)).toBe("[]")
    }).pipe(Effect.provide(NodeContext.layer)), 120_000 * patience)

  it.scopedLive.each([{ words: ["runs"] }, { words: ["deploy", "hello", "--yes"] }])(
    "uses a service that says late that it holds it: $words",
    ({ words }) =>
      Effect.gen(function*() {
        const address = yield* listenAs("alive")
        const { note, start } = yield* hold(holdUnnamed)
        const command = yield* start(words)
        yield* eventually(
          Effect.sync(() => command.output().includes("another berth, which has not said who it is"))
        )
        writeFileSync(note, JSON.stringify({ pid: process.pid, runs: [], service: { address, token } }), {
          mode: 0o600
        })
        yield* command.ended
        expect(command.output()).toContain(wasAsked)
        expect(command.output()).not.toContain("uses it")
      }).pipe(Effect.provide(NodeContext.layer)),
    60_000 * patience
  )
})
