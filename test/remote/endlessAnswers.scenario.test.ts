import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Stream } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import type { Writable } from "node:stream"
import { fileURLToPath } from "node:url"
import type { ServerChannel } from "ssh2"
import { activateCommand } from "../../src/remote/activateCommand.ts"
import { outcomeCommand, restageCommand } from "../../src/remote/activation.ts"
import {
  adoptCommand,
  composedContainersCommand,
  configHashesCommand,
  directoriesCommand,
  readPrivateCommand,
  stackFileCommand,
  stackTreeCommand
} from "../../src/remote/adoption.ts"
import {
  backupCommand,
  keepCopyCommand,
  listBackupsCommand,
  listCopiesCommand,
  markCopiesCommand,
  mountsCommand,
  readCopyCommand,
  restoreCommand,
  verifyBackupCommand,
  writeCopyCommand
} from "../../src/remote/backups.ts"
import { buildImageCommand, findBuiltCommand, saveImagesCommand } from "../../src/remote/build.ts"
import { contentsCommand, inventoryCommand } from "../../src/remote/compare.ts"
import {
  deployLockCommand,
  drainCommand,
  preflightCommand,
  pullImagesCommand,
  uploadCommand
} from "../../src/remote/deploy.ts"
import { diskCommand, pruneCommand } from "../../src/remote/disks.ts"
import { endExecCommand, execCommand, findContainersCommand, findShellCommand } from "../../src/remote/exec.ts"
import {
  containerLogsCommand,
  followLogsCommand,
  logLimit,
  longestLogLine,
  stackLogsCommand
} from "../../src/remote/logs.ts"
import {
  buildStagedNames,
  discardStaged,
  proxyAccessCommand,
  readProxyFile,
  writeProxyFile
} from "../../src/remote/proxy.ts"
import { releaseFilesCommand, releasesCommand } from "../../src/remote/releases.ts"
import { sampleCommand } from "../../src/remote/sample.ts"
import {
  overviewCommand,
  portOpenCommand,
  portsCommand,
  readinessCommand,
  scanCommand
} from "../../src/remote/server.ts"
import {
  containersCommand,
  exitsCommand,
  inspectCommand,
  stackCommand,
  statsCommand,
  unhealthyLogsCommand
} from "../../src/remote/stack.ts"
import { splitBoundedLines } from "../../src/services/bytes.ts"
import { type RemoteCommand, Ssh, usualLimit } from "../../src/services/ssh/Ssh.ts"
import { spawnWatched } from "../../src/services/ssh/SshLive.ts"
import { fakeSsh } from "../fixtures/network/fakeSsh.ts"
import { command, liveSsh } from "../services/ssh/live.ts"

const path = "~/containers/app"
const preflight = { remotePath: path, images: [], files: [], layers: false, thorough: false }
const activation = {
  run: "run",
  remotePath: path,
  composeKind: "v2" as const,
  composeVersion: "2",
  composeFile: "compose.yml",
  containerdStore: false,
  source: { from: "none" as const, archive: "", platform: "", names: [], format: "", expected: "" },
  stagedFiles: 0,
  envFiles: { brought: [], gone: [] },
  images: [],
  release: []
}

/** Every command whose answer is collected, and read when it has ended. */
const collected: Readonly<Record<string, RemoteCommand>> = {
  unhealthyLogsCommand: unhealthyLogsCommand(path, 20, ["id"], false),
  contentsCommand: contentsCommand(path, ["a", "b"], false),
  containersCommand: containersCommand(false),
  discardStaged: discardStaged(buildStagedNames("x")),
  diskCommand: diskCommand([path], false),
  exitsCommand: exitsCommand(["id"], false),
  pruneCommand: pruneCommand([path], [], false),
  drainCommand,
  endExecCommand: endExecCommand("mark", false),
  findBuiltCommand: findBuiltCommand(["web"], false),
  findContainersCommand: findContainersCommand(path, false),
  findShellCommand: findShellCommand({ id: "id", name: "web" }, false),
  inspectCommand: inspectCommand(["id"], false),
  keepCopyCommand: keepCopyCommand(path, "1", [], []),
  listBackupsCommand: listBackupsCommand(path),
  listCopiesCommand: listCopiesCommand(path),
  markCopiesCommand: markCopiesCommand(path, "1", []),
  mountsCommand: mountsCommand(path, false),
  inventoryCommand: inventoryCommand(path, ["data"], false),
  outcomeCommand: outcomeCommand(path, false),
  overviewCommand: overviewCommand([path], false),
  portOpenCommand: portOpenCommand("10.0.0.1", 80),
  portsCommand: portsCommand(false),
  preflightCommand: preflightCommand(preflight, false),
  proxyAccessCommand: { ...proxyAccessCommand("/proxy.yml"), sudo: false },
  readProxyFile: { ...readProxyFile("/proxy.yml"), sudo: false },
  readinessCommand: readinessCommand(path),
  releasesCommand: releasesCommand(path, false),
  releaseFilesCommand: releaseFilesCommand(path, "1"),
  restageCommand: restageCommand(path, "1"),
  sampleCommand: sampleCommand(false),
  scanCommand,
  adoptCommand: adoptCommand(
    { remotePath: path, owned: [], containers: ["id"], release: [] },
    false
  ),
  composedContainersCommand: composedContainersCommand(false),
  configHashesCommand: configHashesCommand(
    { remotePath: path, projectName: "shop", files: ["compose.yml"], profiles: [] },
    false
  ),
  directoriesCommand: directoriesCommand([path], false),
  readPrivateCommand: { ...readPrivateCommand(path, ".env", 1024), sudo: false },
  stackFileCommand: stackFileCommand(path, ".env", false),
  stackTreeCommand: stackTreeCommand(path, "conf", 10),
  stackCommand: stackCommand("look", path, false),
  statsCommand: statsCommand(false),
  uploadCommand: uploadCommand(path, "a", "644"),
  verifyBackupCommand: verifyBackupCommand(path, "1", []),
  writeCopyCommand: writeCopyCommand(path, "1", "a.gz"),
  writeProxyFile: { ...writeProxyFile("/proxy.yml", buildStagedNames("x")), sudo: false }
}
/** Every command whose lines are read while it runs. */
const watched: Readonly<Record<string, RemoteCommand>> = {
  activateCommand: activateCommand(activation, false),
  backupCommand: backupCommand(path, "request", "run", [], false),
  buildImageCommand: buildImageCommand("web", 1, "web", false),
  restoreCommand: restoreCommand(path, "1", "run", false, [], false),
  deployLockCommand: deployLockCommand(path, "me"),
  pullImagesCommand: pullImagesCommand(path, ["web"], false, false)
}
/** Logs, of which any length is normal: their end is kept, or each line is cut. */
const logs = {
  containerLogsCommand: containerLogsCommand("web", 10, false),
  stackLogsCommand: stackLogsCommand(path, 10, false),
  followLogsCommand: followLogsCommand({ kind: "container", name: "web" }, { lines: 1, service: "", since: "" }, false)
}

/** Output that goes on to the caller, or into a file, as it comes. */
const passed = {
  execCommand: execCommand({ id: "id", name: "web" }, "mark", ["cat"], { sudo: false, terminal: undefined }),
  readCopyCommand: readCopyCommand(path, "1", "a.gz"),
  saveImagesCommand: saveImagesCommand(["web"], false)
}

/** Endless output: a single line, or as many records as bytes. */
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
    const directory = fileURLToPath(new URL("../../src/remote", import.meta.url))
    const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"))
      .flatMap((name) => {
        const text = readFileSync(`${directory}/${name}`, "utf8")
        const made = text.matchAll(
          /export const (\w+)(?:: RemoteCommand = | = \((?:[^=]|=(?!>))*?\): RemoteCommand =>)/g
        )
        return [...made].flatMap(([, made]) => made ?? [])
      })
    expect(names.length).toBeGreaterThan(20)
    expect(Object.keys({ ...collected, ...watched, ...logs, ...passed }).sort()).toEqual(names.toSorted())
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
        Stream.runCollect(Stream.take(splitBoundedLines(longestLogLine)(stdout), 100)))
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
