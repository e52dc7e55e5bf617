import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Stream } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import type { Writable } from "node:stream"
import { fileURLToPath } from "node:url"
import type { ServerChannel } from "ssh2"
import { activateCommand } from "../../../src/pipelines/remote/activate.ts"
import { ailingLogsCommand } from "../../../src/pipelines/remote/ailing.ts"
import { contentsCommand, inventoryCommand } from "../../../src/pipelines/remote/compare.ts"
import { containersCommand } from "../../../src/pipelines/remote/containers.ts"
import { deployLockCommand } from "../../../src/pipelines/remote/deployLock.ts"
import { preflightCommand } from "../../../src/pipelines/remote/deployPreflight.ts"
import { exitsCommand } from "../../../src/pipelines/remote/exits.ts"
import { followLogsCommand, longestLogLine } from "../../../src/pipelines/remote/followLogs.ts"
import { inspectCommand } from "../../../src/pipelines/remote/inspect.ts"
import { containerLogsCommand, logLimit, stackLogsCommand } from "../../../src/pipelines/remote/logs.ts"
import { outcomeCommand } from "../../../src/pipelines/remote/outcome.ts"
import { overviewCommand } from "../../../src/pipelines/remote/overview.ts"
import { portOpenCommand } from "../../../src/pipelines/remote/portOpen.ts"
import { portsCommand } from "../../../src/pipelines/remote/ports.ts"
import { proxyAccessCommand } from "../../../src/pipelines/remote/proxyAccess.ts"
import { discardStaged, readProxyFile, staged, writeProxyFile } from "../../../src/pipelines/remote/proxyFile.ts"
import { pullImagesCommand } from "../../../src/pipelines/remote/pullImages.ts"
import { releasesCommand } from "../../../src/pipelines/remote/releases.ts"
import { restageCommand } from "../../../src/pipelines/remote/restage.ts"
import { scanCommand } from "../../../src/pipelines/remote/scan.ts"
import { stackCommand } from "../../../src/pipelines/remote/stack.ts"
import { statsCommand } from "../../../src/pipelines/remote/stats.ts"
import { uploadCommand } from "../../../src/pipelines/remote/upload.ts"
import { boundedLines } from "../../../src/services/bytes/boundedLines.ts"
import { usualLimit } from "../../../src/services/ssh/AnswerLimit.ts"
import type { RemoteCommand } from "../../../src/services/ssh/RemoteCommand.ts"
import { spawnWatched } from "../../../src/services/ssh/spawnWatched.ts"
import { Ssh } from "../../../src/services/ssh/Ssh.ts"
import { fakeSsh } from "../../fixtures/fakeSsh.ts"
import { command, liveSsh } from "../../services/ssh/live.ts"

const path = "~/containers/app"
const preflight = { remotePath: path, images: [], files: [], layers: false, thorough: false }
const activation = {
  run: "run",
  remotePath: path,
  composeKind: "v2" as const,
  composeVersion: "2",
  composeFile: "compose.yml",
  containerdStore: false,
  source: { from: "none" as const, archive: "", names: [], format: "", expected: "" },
  envFiles: { brought: [], gone: [] },
  images: [],
  release: []
}

/** Every command whose answer is collected, and read when it has ended. */
const collected: Readonly<Record<string, RemoteCommand>> = {
  ailingLogsCommand: ailingLogsCommand(path, 20, ["id"], false),
  contentsCommand: contentsCommand(path, ["a", "b"], false),
  containersCommand: containersCommand(false),
  discardStaged: discardStaged(staged("x")),
  exitsCommand: exitsCommand(["id"], false),
  inspectCommand: inspectCommand(["id"], false),
  inventoryCommand: inventoryCommand(path, ["data"], false),
  outcomeCommand: outcomeCommand(path, false),
  overviewCommand: overviewCommand([path], false),
  portOpenCommand: portOpenCommand("10.0.0.1", 80),
  portsCommand: portsCommand(false),
  preflightCommand: preflightCommand(preflight, false),
  proxyAccessCommand: { ...proxyAccessCommand("/proxy.yml"), sudo: false },
  readProxyFile: { ...readProxyFile("/proxy.yml"), sudo: false },
  releasesCommand: releasesCommand(path, false),
  restageCommand: restageCommand(path, "1"),
  scanCommand,
  stackCommand: stackCommand("look", path, false),
  statsCommand: statsCommand(false),
  uploadCommand: uploadCommand(path, "a", "644"),
  writeProxyFile: { ...writeProxyFile("/proxy.yml", staged("x")), sudo: false }
}
/** Every command whose lines are read while it runs. */
const watched: Readonly<Record<string, RemoteCommand>> = {
  activateCommand: activateCommand(activation, false),
  deployLockCommand: deployLockCommand(path, "me"),
  pullImagesCommand: pullImagesCommand(path, ["web"], false, false)
}
/** Logs, of which any length is normal: their end is kept, or each line is cut. */
const logs = {
  containerLogsCommand: containerLogsCommand("web", 10, false),
  stackLogsCommand: stackLogsCommand(path, 10, false),
  followLogsCommand: followLogsCommand({ kind: "container", name: "web" }, { lines: 1, service: "", since: "" }, false)
}

/** What is written without end: a single line, or as many records as there are bytes. */
const floods: ReadonlyArray<readonly [what: string, bytesFor: (one: RemoteCommand) => string]> = [
  ["one line", () => "x"],
  ["empty records", ({ limit = usualLimit }) => limit.separator]
]

const blockOf = (bytes: string) => Buffer.alloc(64 * 1024, bytes)

const endlessly = (to: Writable, chunk: Buffer): void => {
  if (to.destroyed || !to.writable) return
  if (to.write(chunk)) setImmediate(endlessly, to, chunk)
  else to.once("drain", () => endlessly(to, chunk))
}

/** A server that writes this without end, and tells when a command of it was ended. */
const flooding = (block: Buffer, stream: (channel: ServerChannel) => Writable = (channel) => channel) =>
  Effect.gen(function*() {
    const ended = yield* Deferred.make<void>()
    const { access } = yield* fakeSsh({
      exec: (channel) => {
        channel.resume().on("close", () => Deferred.unsafeDone(ended, Effect.void))
        endlessly(stream(channel), block)
      }
    })
    return { access, ended: Effect.timeout(Deferred.await(ended), "20 seconds") }
  })

const said = (what: string) =>
  new RegExp(
    `^"Main" \\(127\\.0\\.0\\.1:\\d+\\) wrote more than (?:\\d+ MiB|[\\d,]+ (?:lines|files|directories)|` +
      `the 2 texts that differ) while it was asked for ${
        what.replaceAll(/[.*+?^()|[\]\\]/g, "\\$&")
      }: the command was ` +
      "ended\\. \\S.*\\S$"
  )

describe("the answer of a server that writes without end", () => {
  it("is tried of every command there is", () => {
    const directory = fileURLToPath(new URL("../../../src/pipelines/remote", import.meta.url))
    const names = readdirSync(directory).filter((name) => name.endsWith(".ts")).flatMap((name) => {
      const text = readFileSync(`${directory}/${name}`, "utf8")
      const made = text.matchAll(/export const (\w+)(?:: RemoteCommand = | = \((?:[^=]|=(?!>))*?\): RemoteCommand =>)/g)
      return [...made].flatMap(([, made]) => made ?? [])
    })
    expect(names.length).toBeGreaterThan(20)
    expect(Object.keys({ ...collected, ...watched, ...logs }).sort()).toEqual(names.toSorted())
  })

  for (const [what, bytesFor] of floods) {
    it.scopedLive(`in ${what} ends each command at its limit, in words`, () =>
      Effect.gen(function*() {
        const { exec } = yield* Ssh
        for (const [name, one] of Object.entries(collected)) {
          const { access, ended } = yield* flooding(blockOf(bytesFor(one)))
          const error = yield* Effect.flip(Effect.scoped(exec(access, one)))
          expect([name, error._tag]).toEqual([name, "RemoteOutputTooLong"])
          expect(error.message).toMatch(said(one.what))
          yield* ended
        }
        for (const [name, one] of Object.entries(watched)) {
          const { access, ended } = yield* flooding(blockOf(bytesFor(one)))
          const read = Effect.flatMap(
            spawnWatched(access, one, { silence: "20 seconds" }),
            ({ lines }) => Stream.runDrain(lines)
          )
          const error = yield* Effect.flip(Effect.scoped(read))
          expect([name, error._tag]).toEqual([name, "RemoteOutputTooLong"])
          expect(error.message).toMatch(said(one.what))
          yield* ended
        }
      }).pipe(Effect.provide(liveSsh())))
  }

  it.scopedLive("costs a log no more than what is kept of it", () =>
    Effect.gen(function*() {
      const { exec, spawn } = yield* Ssh
      for (const one of [logs.containerLogsCommand, logs.stackLogsCommand]) {
        const { access, ended } = yield* flooding(blockOf("x"))
        const error = yield* Effect.flip(exec(access, one, { keepLast: logLimit, timeout: "300 millis" }))
        expect(error._tag).toBe("RemoteTimeout")
        yield* ended
      }
      const { access, ended } = yield* flooding(Buffer.from(`${"x".repeat(20_000)}\n`))
      const follow = Effect.flatMap(spawn(access, logs.followLogsCommand), ({ stdout }) =>
        Stream.runCollect(Stream.take(boundedLines(longestLogLine)(stdout), 100)))
      for (const line of yield* Effect.scoped(follow)) {
        expect(line.length).toBe(longestLogLine)
      }
      yield* ended
    }).pipe(Effect.provide(liveSsh())))

  it.scopedLive("on stderr ends it, too", () =>
    Effect.gen(function*() {
      const { access, ended } = yield* flooding(blockOf("x"), ({ stderr }) => stderr)
      const error = yield* Effect.flip((yield* Ssh).exec(access, command("true")))
      expect(error.message).toContain("wrote more than 16 MiB")
      yield* ended
    }).pipe(Effect.provide(liveSsh())))

  it.scopedLive("is told from one that is as long as it may be", () =>
    Effect.gen(function*() {
      const { access } = yield* fakeSsh({
        exec: (channel) => {
          channel.write(Buffer.alloc(1024 * 1024, `${"x".repeat(63)}\n`))
          channel.stderr.write(Buffer.alloc(1024 * 1024, "warned\n"))
          channel.exit(0)
          channel.end()
        }
      })
      const { code, stderr, stdout } = yield* (yield* Ssh).exec(access, command("true"))
      expect([code, stdout.length, stderr.length]).toEqual([0, 1024 * 1024, 64 * 1024])
    }).pipe(Effect.provide(liveSsh())))
})
