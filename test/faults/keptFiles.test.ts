import type { Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Context, Deferred, Effect, Either, Exit, Layer, Logger, Schedule, Scope } from "effect"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { listen, RecordAddress } from "../../src/http/listen.ts"
import { Http } from "../../src/http/server.ts"
import { recordBuiltImages } from "../../src/pipelines/archive/builtArchive.ts"
import { computeSha256 } from "../../src/services/bytes.ts"
import { HostKeys } from "../../src/services/HostKeys.ts"
import { HostKeysLive } from "../../src/services/HostKeysLive.ts"
import { type LocalFiles, LocalFilesLive } from "../../src/services/local/LocalFiles.ts"
import { Locks, locksLayer, LocksLive, makeBuildLock } from "../../src/services/locks/Locks.ts"
import { ProjectTrust } from "../../src/services/ProjectTrust.ts"
import { servicesLive } from "../../src/services/ServicesLive.ts"
import { confirmText } from "../../src/services/settings/confirm.ts"
import { Settings } from "../../src/services/settings/Settings.ts"
import { makeRunStoreIn } from "../../src/services/state/RunStoreLive.ts"
import { settingsTest } from "../../src/testing/SettingsTest.ts"
import { realSsh, run } from "../fixtures/network/openssh.ts"
import { patience } from "../fixtures/patience.ts"
import { stored, storedRun } from "../fixtures/runs/storedRuns.ts"
import { temporaryDirectory } from "../layers/temporary.ts"

const server = { host: "203.0.113.7", port: 22, username: "deployer" }
const print = (turn: number) => `SHA256:${String(turn).repeat(43)}`

type Write = (
  turn: number
) => Effect.Effect<unknown, { readonly message: string }, HostKeys | LocalFiles | Locks | Path.Path | Settings>

const shortDigest = (text: string) => computeSha256(text).slice(0, 12)

/** Files in the directory of the settings that a call writes. Each turn writes another text. */
const kept: Readonly<Record<string, Write>> = {
  "berth.yaml": (turn: number) =>
    Effect.flatMap(Settings, (settings) => settings.changeSettings({ "deploy.healthTimeout": `${turn} seconds` })),
  "berth.known_hosts": (turn: number) =>
    Effect.flatMap(HostKeys, (keys) => keys.confirm({ ...server, host: `203.0.113.${turn}` }, print(turn))),
  "berth.trust": (turn: number) =>
    Effect.flatMap(ProjectTrust, (trust) => trust.record(`/projects/${turn}`, { "command x": print(turn) })),
  trusted: (turn: number) => confirmText("/somewhere/berth.yaml", String(turn)),
  [`berth.builds/${shortDigest("/")}/${shortDigest("main")}.json`]: (turn: number) =>
    recordBuiltImages("/", "main", [{ name: `shop:${turn}`, id: "sha256:1", platform: "linux/amd64", layers: [] }])
}

const isPrivate = (file: string) => {
  expect([file, statSync(file).mode & 0o777]).toEqual([file, 0o600])
  expect(statSync(dirname(file)).mode & 0o777).toBe(0o700)
}

/** A service whose settings lie in a directory that does not exist yet. */
const stage = Effect.gen(function*() {
  const parent = yield* temporaryDirectory
  const file = join(parent, "home", ".config", "berth", "berth.yaml")
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const before = process.env["HOME"]
      process.env["HOME"] = join(parent, "home")
      return before
    }),
    (before) =>
      Effect.sync(() => {
        if (before === undefined) delete process.env["HOME"]
        else process.env["HOME"] = before
      })
  )
  const local = LocalFilesLive.pipe(Layer.provideMerge(NodeContext.layer), Layer.provideMerge(LocksLive))
  const hostKeys = Layer.provide(HostKeysLive(join(dirname(file), "berth.known_hosts")), local)
  const services = Layer.provide(servicesLive(file), NodeContext.layer)
  const context = yield* Layer.build(Layer.fresh(Layer.mergeAll(services, hostKeys, local)))
  return { parent, directory: dirname(file), context }
})

/** A disk of its own in the place of the settings' directory. */
const mounted = (directory: string) =>
  Effect.acquireRelease(
    Effect.zipRight(
      Effect.sync(() => mkdirSync(directory, { recursive: true, mode: 0o700 })),
      Effect.orDie(run("mount", ["-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", directory]))
    ),
    () => Effect.ignore(run("umount", ["--lazy", directory]))
  )

/** Makes a disk unable to take a file, and able again. */
const faults = {
  "a read-only disk": {
    words: /read-only/,
    begin: (directory: string) => run("mount", ["-o", "remount,ro", directory]),
    end: (directory: string) => run("mount", ["-o", "remount,rw", directory])
  },
  "a full disk": {
    words: /no space left/,
    begin: (directory: string) =>
      run("sh", ["-c", "dd if=/dev/zero of=\"$1/filler\" bs=4096 2>/dev/null || :", "sh", directory]),
    end: (directory: string) => run("rm", [join(directory, "filler")])
  }
}

describe.each(Object.entries(kept))("%s", (name, write) => {
  it.scopedLive("is written where its directory is missing, or was removed since the start, for its user alone", () =>
    Effect.gen(function*() {
      const { context, directory, parent } = yield* stage
      const file = join(directory, name)
      for (const [turn, removed] of [join(parent, "home"), directory, file, join(parent, "home")].entries()) {
        rmSync(removed, { recursive: true, force: true })
        yield* Effect.provide(write(turn + 1), context)
        isPrivate(file)
        expect(readFileSync(file, "utf8")).toContain(String(turn + 1))
      }
    }))

  for (const [fault, { begin, end, words }] of Object.entries(faults)) {
    it.scopedLive.skipIf(!realSsh.available)(
      `on ${fault} stays as it was, says why, and is written once that is mended`,
      () =>
        Effect.gen(function*() {
          const { context, directory } = yield* stage
          yield* mounted(directory)
          const file = join(directory, name)
          yield* Effect.provide(write(1), context)
          const before = readFileSync(file, "utf8")
          const names = readdirSync(directory)
          yield* begin(directory)
          const refused = yield* Effect.either(Effect.provide(write(2), context))
          const text = Either.match(refused, { onLeft: (error) => error.message, onRight: () => "written" })
          expect(text).toMatch(words)
          expect(text).toContain(name)
          expect(readFileSync(file, "utf8")).toBe(before)
          // No partial file.
          expect(readdirSync(directory).filter((each) => each !== "filler")).toEqual(names)
          yield* end(directory)
          yield* Effect.provide(write(2), context)
          expect(readFileSync(file, "utf8")).not.toBe(before)
          isPrivate(file)
        })
    )
  }
})

/** The store of runs in a directory that may not exist yet, until the scope closes. */
const openStore = (directory: string) =>
  Effect.map(
    Effect.provide(makeRunStoreIn(join(directory, "berth.db"), "20 seconds"), settingsTest()),
    ({ history }) => ({
      add: (number: number) => history.insert(stored(storedRun(number))),
      count: Effect.map(history.list({}), ({ runs }) => runs.length)
    })
  )

const storeFiles = ["berth.db", "berth.db.holder"]

describe("the store of runs and the note of its holder", { timeout: 60_000 * patience }, () => {
  it.scopedLive("are written where their directory is missing, and again with all runs where they were removed", () =>
    Effect.gen(function*() {
      const parent = yield* temporaryDirectory
      const directory = join(parent, "home", ".config", "berth")
      yield* Effect.scoped(Effect.gen(function*() {
        const { add } = yield* openStore(directory)
        yield* add(1)
        const removed = [
          join(parent, "home"),
          directory,
          join(directory, "berth.db"),
          join(directory, storeFiles[1] ?? "")
        ]
        for (const [turn, path] of removed.entries()) {
          rmSync(path, { recursive: true, force: true })
          yield* add(turn + 2)
          for (const name of storeFiles) {
            yield* appears(join(directory, name))
            isPrivate(join(directory, name))
          }
          yield* add(turn + 12)
        }
      }))
      expect(readdirSync(directory)).toEqual(["berth.db"])
      expect(yield* Effect.scoped(Effect.flatMap(openStore(directory), ({ count }) => count))).toBe(9)
    }))

  it.scopedLive("take the place of one without runs that a command left there meanwhile, and of no other", () =>
    Effect.gen(function*() {
      const directory = join(yield* temporaryDirectory, "berth")
      const file = join(directory, "berth.db")
      const other = join(yield* temporaryDirectory, "other")
      yield* Effect.scoped(Effect.flatMap(openStore(other), ({ add }) => add(7)))
      const used = readFileSync(join(other, "berth.db"))
      const refused = yield* Deferred.make<void>()
      const whenReplaced = Logger.make(({ message }) => {
        if (String(message).includes("was replaced while Berth used it")) Deferred.unsafeDone(refused, Effect.void)
      })
      yield* Effect.scoped(Effect.flatMap(openStore(other), ({ count }) => count))
      yield* Effect.scoped(Effect.gen(function*() {
        const { add } = yield* openStore(directory)
        yield* add(1)
        rmSync(file)
        writeFileSync(file, "", { mode: 0o600 })
        yield* Effect.retry(
          Effect.suspend(() => statSync(file).size > 0 ? Effect.void : Effect.fail("empty")),
          { schedule: Schedule.spaced("50 millis"), times: 400 * patience }
        )
        yield* add(2)
        rmSync(file)
        writeFileSync(file, used, { mode: 0o600 })
        const { ino } = statSync(file)
        yield* Deferred.await(refused)
        expect(statSync(file).ino).toBe(ino)
        rmSync(file)
        yield* appears(file)
      })).pipe(Effect.provide(Logger.add(whenReplaced)))
      expect(yield* Effect.scoped(Effect.flatMap(openStore(directory), ({ count }) => count))).toBe(2)
    }))

  for (const [fault, { begin, end }] of Object.entries(faults)) {
    it.scopedLive.skipIf(!realSsh.available)(
      `on ${fault} say what to do, leave no partial file, and are written once that is mended`,
      () =>
        Effect.gen(function*() {
          const directory = join(yield* temporaryDirectory, "berth")
          yield* mounted(directory)
          yield* begin(directory)
          const { add, count } = yield* openStore(directory)
          const { message } = yield* Effect.flip(add(1))
          expect(message).toMatch(
            /berth\.db: (?:the disk is full\. Free some space|the file cannot be opened or written)/
          )
          expect(readdirSync(directory).filter((name) => !["filler", "berth.db"].includes(name))).toEqual([])
          yield* end(directory)
          yield* Effect.retry(add(2), { schedule: Schedule.spaced("200 millis"), times: 100 * patience })
          expect(yield* count).toBe(1)
          for (const name of storeFiles) {
            yield* appears(join(directory, name))
            isPrivate(join(directory, name))
          }
        })
    )
  }

  it.scopedLive.skipIf(!realSsh.available)(
    "go on once a disk that was filled meanwhile has room again",
    () =>
      Effect.gen(function*() {
        const directory = join(yield* temporaryDirectory, "berth")
        yield* mounted(directory)
        const { add, count } = yield* openStore(directory)
        yield* add(1)
        const { begin, end } = faults["a full disk"]
        yield* begin(directory)
        rmSync(join(directory, "berth.db.holder"))
        yield* run("sh", ["-c", "cat /dev/zero >>\"$1/filler\" 2>/dev/null || :", "sh", directory])
        const numbers = Array.from({ length: 2_000 }, (_, index) => index + 2)
        const { message } = yield* Effect.flip(Effect.forEach(numbers, add, { discard: true }))
        expect(message).toContain("berth.db: the disk is full. Free some space")
        yield* end(directory)
        yield* Effect.retry(add(9_999), { schedule: Schedule.spaced("200 millis"), times: 100 * patience })
        expect(yield* count).toBeGreaterThan(1)
        yield* appears(join(directory, "berth.db.holder"))
        expect(JSON.parse(readFileSync(join(directory, "berth.db.holder"), "utf8"))).toMatchObject({ pid: process.pid })
      })
  )
})

describe("the locks that the processes of a user share", () => {
  const lockIn = (directory: string) =>
    Effect.map(Layer.build(Layer.fresh(locksLayer(directory))), (context) => {
      const { withLock } = Context.get(context, Locks)
      return withLock(makeBuildLock("/projects/hello"))(
        Effect.sync(() => existsSync(directory) ? readdirSync(directory).length : 0)
      )
    })

  it.scopedLive("have a directory where it is missing, or was removed since the start", () =>
    Effect.gen(function*() {
      const parent = yield* temporaryDirectory
      const directory = join(parent, "home", ".local", "state", "berth", "locks")
      const locked = yield* lockIn(directory)
      for (const removed of [directory, dirname(directory), join(parent, "home")]) {
        expect(yield* locked).toBe(1)
        expect(statSync(directory).mode & 0o777).toBe(0o700)
        rmSync(removed, { recursive: true })
      }
      expect(yield* locked).toBe(1)
      expect(readdirSync(directory)).toEqual([])
    }))

  it.scopedLive.skipIf(!realSsh.available)(
    "cannot be taken on a read-only disk, which is said, and can afterwards",
    () =>
      Effect.gen(function*() {
        const disk = join(yield* temporaryDirectory, "state")
        yield* mounted(disk)
        const locked = yield* lockIn(join(disk, "locks"))
        const { begin, end } = faults["a read-only disk"]
        yield* begin(disk)
        // No process can take a lock there, and each says so: they exclude what is in the same process.
        expect(yield* locked).toBe(0)
        yield* end(disk)
        expect(yield* locked).toBe(1)
        yield* begin(disk)
        expect((yield* Effect.flip(locked)).message).toContain(
          "The build of /projects/hello cannot be locked: the file system is read-only"
        )
        yield* end(disk)
        expect(yield* locked).toBe(1)
      })
  )

  it.scopedLive.skipIf(!realSsh.available)(
    "on a full disk are taken, or it is said why not",
    () =>
      Effect.gen(function*() {
        const disk = join(yield* temporaryDirectory, "state")
        yield* mounted(disk)
        const locked = yield* lockIn(join(disk, "locks"))
        expect(yield* locked).toBe(1)
        const { begin, end } = faults["a full disk"]
        yield* begin(disk)
        const refused = yield* Effect.either(locked)
        if (Either.isLeft(refused)) expect(refused.left.message).toContain("no space left")
        yield* end(disk)
        expect(yield* locked).toBe(1)
      })
  )
})

const appears = (file: string) =>
  Effect.sync(() => existsSync(file)).pipe(
    Effect.repeat({ until: (is) => is, schedule: Schedule.spaced("50 millis") }),
    Effect.timeout(`${20 * patience} seconds`),
    Effect.orDie
  )

const startRecorded = (file: string) =>
  Effect.gen(function*() {
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const services = Layer.provide(servicesLive(file), NodeContext.layer)
    const http = Layer.merge(Http, Layer.provide(RecordAddress, NodeContext.layer))
    yield* Layer.buildWithScope(Layer.fresh(listen(http, services, { host: "127.0.0.1", port: 0 })), scope)
  })

describe("the record of the service", { timeout: 60_000 * patience }, () => {
  for (const [fault, { begin, end }] of Object.entries(faults)) {
    it.scopedLive.skipIf(!realSsh.available)(
      `on ${fault} is written once that is mended`,
      () =>
        Effect.gen(function*() {
          const directory = join(yield* temporaryDirectory, "berth")
          yield* mounted(directory)
          yield* begin(directory)
          yield* startRecorded(join(directory, "berth.yaml"))
          yield* Effect.sleep("500 millis")
          expect(existsSync(join(directory, "berth.service"))).toBe(false)
          yield* end(directory)
          yield* appears(join(directory, "berth.service"))
          isPrivate(join(directory, "berth.service"))
        })
    )
  }

  it.scopedLive("is whole, and one service's, where two start at the same moment in an empty home", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "home", ".config", "berth", "berth.yaml")
      yield* Effect.all([startRecorded(file), startRecorded(file)], { concurrency: 2 })
      const record = join(dirname(file), "berth.service")
      yield* appears(record)
      isPrivate(record)
      // Either may write over the other at first. Then one of them leaves the record alone, longer than both look at it.
      const read = Effect.sync(() => readFileSync(record, "utf8"))
      const left = Effect.filterOrFail(
        Effect.zip(read, Effect.delay(read, "6 seconds")),
        ([before, after]) => before === after,
        () => new Error("the record changes again and again")
      )
      const [text] = yield* Effect.retry(left, { times: 2 })
      expect(JSON.parse(text)).toMatchObject({ pid: process.pid, address: expect.stringMatching(/^http:/) })
      expect(readdirSync(dirname(file)).filter((each) => !each.startsWith("berth."))).toEqual([])
    }))
})
