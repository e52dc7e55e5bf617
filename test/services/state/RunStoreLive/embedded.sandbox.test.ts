import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Option, Schedule, Scope, TestClock } from "effect"
import { spawnSync } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { open as openFile } from "node:fs/promises"
import { join } from "node:path"
import type { StateStore } from "../../../../src/services/runs/store.ts"
import { openDatabaseFile, release } from "../../../../src/services/state/databaseFile.ts"
import { announceService, describeStoreHolder, isHeldHere } from "../../../../src/services/state/discovery.ts"
import { makeRunStoreIn } from "../../../../src/services/state/RunStoreLive.ts"
import { makeRunStoreMemory } from "../../../../src/testing/RunsTest.ts"
import { settingsTest } from "../../../../src/testing/SettingsTest.ts"
import { patience } from "../../../fixtures/patience.ts"
import { outboxBehaves } from "../../../fixtures/runs/outbox.ts"
import { behaves, stored, storedRun as run } from "../../../fixtures/runs/storedRuns.ts"
import { inPart } from "../../../fixtures/thorough.ts"
import { temporaryDirectory } from "../../../layers/temporary.ts"

/** Uses the store of a file for a while; afterwards the file is free again. */
const using = <A, E>(
  file: string,
  use: (store: StateStore) => Effect.Effect<A, E>,
  openTimeout: Duration.DurationInput = "20 seconds",
  holderTimeout = openTimeout
) =>
  Effect.acquireUseRelease(
    Scope.make(),
    (scope) =>
      makeRunStoreIn(file, openTimeout, holderTimeout).pipe(
        Effect.provide(settingsTest()),
        Effect.flatMap(use),
        Scope.extend(scope)
      ),
    (scope) => Scope.close(scope, Exit.void)
  )

const readyToList = ({ history }: StateStore) => Effect.zipRight(history.ready, history.list({}))

describe("runs in memory", () => {
  it.effect("are kept, found and purged", () => Effect.flatMap(makeRunStoreMemory, behaves))
})

describe("runs in a file", () => {
  it.scopedLive("are kept, found and purged", () =>
    Effect.flatMap(temporaryDirectory, (directory) => using(join(directory, "berth.db"), behaves)))

  it.scopedLive("keep notifications", () =>
    Effect.flatMap(temporaryDirectory, (directory) => using(join(directory, "berth.db"), outboxBehaves)))

  it.scopedLive("name nobody else where opening their file just takes long", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const { message } = yield* using(join(directory, "berth.db"), (store) => Effect.flip(readyToList(store)), 0)
      expect(message).toContain("opening it takes long: this machine or its disk is busy. Try again")
    }))

  it.scopedLive("are waited for where opening their file takes longer than a holder is waited for", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const file = join(directory, "berth.db")
      // Opening a pipe for writing ends once somebody reads it: a disk that takes its time.
      expect(spawnSync("mkfifo", [file]).status).toBe(0)
      const slow = Effect.gen(function*() {
        yield* Effect.sleep("4 seconds")
        renameSync(file, `${file}.pipe`)
        const reader = yield* Effect.promise(() => openFile(`${file}.pipe`, "r"))
        yield* Effect.promise(() => reader.close())
      })
      const [, page] = yield* Effect.all([slow, using(file, readyToList, "3 seconds")], { concurrency: 2 })
      expect(page.runs).toEqual([])
    }))

  it.scopedLive("outlive the process, in files that nobody else can read", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const file = join(directory, "new", "berth.db")
      yield* using(file, (store) =>
        Effect.gen(function*() {
          yield* store.history.insert(stored(run(1)))
          for (const name of readdirSync(join(directory, "new"))) {
            expect([name, statSync(join(directory, "new", name)).mode & 0o777]).toEqual([name, 0o600])
          }
        }))
      expect(yield* using(file, (store) => store.history.find(run(1).id))).toMatchObject(
        Option.some({ kind: "deploy" })
      )
    }))

  it.scopedLive("belong to one process at a time, and the next one gets them", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "berth.db")
      yield* using(file, (store) =>
        Effect.gen(function*() {
          yield* store.history.insert(stored(run(1, { state: "running" })))
          yield* store.history.insert(stored(run(2)))
          const refused = yield* Effect.flip(using(file, (other) => other.history.list({}), "1 second"))
          expect(refused).toMatchObject({ status: 503 })
          expect(refused.message).toContain(
            `another Berth (deploy of shop, process ${process.pid}) of this machine uses it`
          )
        }))
      expect(existsSync(`${file}.holder`)).toBe(false)
      expect((yield* using(file, (store) => store.history.list({}))).runs).toHaveLength(2)
    }))

  it.scopedLive("are left in the order of their recording, also when the clock was set back between them", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "berth.db")
      yield* using(file, (store) =>
        Effect.gen(function*() {
          for (const number of [2, 3, 1]) yield* store.history.insert(stored(run(number, { state: "queued" })))
          expect((yield* store.ownership.unowned([])).map((left) => left.run.id)).toEqual(
            [2, 3, 1].map((number) => run(number).id)
          )
        }))
    }))

  it.scopedLive("are waited for while another process has them, and not for ever", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "berth.db")
      const waited = yield* using(file, (store) =>
        Effect.gen(function*() {
          yield* store.history.insert(stored(run(1)))
          const waits = Effect.fork(using(file, readyToList, "1 second", "1 minute"))
          const fiber = yield* waits
          const [elapsed, refused] = yield* Effect.timed(
            Effect.flip(using(file, readyToList, "100 millis", "500 millis"))
          )
          expect(refused.message).toContain("of this machine uses it")
          expect(Duration.toMillis(elapsed)).toBeGreaterThan(500)
          expect(fiber.unsafePoll()).toBeNull()
          const gone = yield* waits
          yield* Effect.sleep("1300 millis")
          const [end] = yield* Effect.timed(Fiber.interrupt(gone))
          expect(Duration.toSeconds(end)).toBeLessThan(5)
          return fiber
        }))
      expect((yield* Fiber.join(waited)).runs).toHaveLength(1)
    }))

  // The holder lets go before, while and long after the first pause between two looks at it.
  it.scopedLive.each(
    inPart([100, 700, 1_500, 3_100], [700]).flatMap((millis) => [[millis, true], [millis, false]] as const)
  )(
    "are used as soon as a process lets them go after %i ms, by who can be interrupted (%s) or not",
    ([millis, canBeInterrupted]) =>
      Effect.gen(function*() {
        const file = join(yield* temporaryDirectory, "berth.db")
        const kept = canBeInterrupted ? Effect.interruptible : Effect.uninterruptible
        const next = using(file, (other) => kept(readyToList(other)), "500 millis", "1 hour")
        const [waiting, last] = yield* using(file, (store) =>
          Effect.gen(function*() {
            yield* store.history.insert(stored(run(1)))
            const waiting = yield* Effect.fork(next)
            const last = yield* Effect.fork(next)
            yield* Effect.sleep(millis)
            return [waiting, last] as const
          }))
        const [elapsed, pages] = yield* Effect.timed(Effect.all([Fiber.join(waiting), Fiber.join(last)]))
        expect(pages.map(({ runs }) => runs.length)).toEqual([1, 1])
        expect(Duration.toSeconds(elapsed)).toBeLessThan(5)
      })
  )

  it.scopedLive(
    "are neither read nor changed after a long wait where a service has them",
    () =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const file = join(directory, "berth.db")
        yield* using(file, (store) =>
          Effect.gen(function*() {
            yield* store.history.insert(stored(run(1, { state: "running" })))
            const refused = (use: (store: StateStore) => Effect.Effect<unknown, { readonly message: string }>) =>
              Effect.timed(Effect.flip(using(file, use, "20 seconds", "1 hour")))
            const [[read, unread], [waited, held]] = yield* Effect.scoped(Effect.zipRight(
              announceService(directory, { address: "http://127.0.0.1:1", token: "t" }),
              Effect.all([refused(({ history }) => history.list({})), refused(readyToList)], { concurrency: 2 })
            ))
            for (const elapsed of [read, waited]) expect(Duration.toSeconds(elapsed)).toBeLessThan(5 * patience)
            for (const { message } of [unread, held]) {
              expect(message).toContain(
                `the service at http://127.0.0.1:1 (deploy of shop, process ${process.pid}) uses it. Use that one with ` +
                  "--url http://127.0.0.1:1, or stop it"
              )
            }
          }))
      }),
    30_000 * patience
  )

  it.scoped.each([
    { what: "read", use: ({ history }: StateStore) => history.list({}) },
    { what: "changed", use: readyToList }
  ])(
    "are not $what after a long wait where a process has them that left no note",
    ({ use }) =>
      Effect.gen(function*() {
        const file = join(yield* temporaryDirectory, "berth.db")
        yield* Effect.acquireRelease(
          Effect.promise(() => openDatabaseFile(file)),
          ({ database }) => Effect.sync(() => release(database))
        )
        for (const holderTimeout of ["1 hour", "2 hours"] as const) {
          const fiber = yield* Effect.fork(Effect.timed(Effect.flip(using(file, use, "1 hour", holderTimeout))))
          const turn = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 1)))
          const isDone = Effect.map(Fiber.poll(fiber), Option.isSome)
          yield* Effect.repeat(Effect.zipRight(TestClock.adjust("100 millis"), Effect.zipRight(turn, isDone)), {
            until: (is) => is
          })
          const [elapsed, { message }] = yield* Fiber.join(fiber)
          expect(Duration.toMinutes(elapsed)).toBeLessThan(10)
          expect(message).toContain(
            "another Berth of this machine, which has not said who it is, uses it. Stop that one"
          )
        }
      })
  )

  it.scopedLive("name nobody who has died, and no run that has ended, as who has them", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "berth.db")
      expect(yield* describeStoreHolder(file)).toEqual(Option.none())
      yield* using(file, (store) =>
        Effect.gen(function*() {
          const many = [1, 2, 3, 4, 5].map((number) =>
            run(number, { state: "running", subject: { appName: `a${number}` } })
          )
          yield* Effect.forEach(many, (run) => store.history.insert(stored(run)))
          expect(yield* describeStoreHolder(file)).toEqual(
            Option.some(`deploy of a1, deploy of a2, deploy of a3, 2 more, process ${process.pid}`)
          )
          yield* Effect.forEach(many.slice(1), (run) => store.history.save({ ...run, state: "failed" }, 1))
          expect(yield* describeStoreHolder(file)).toEqual(Option.some(`deploy of a1, process ${process.pid}`))
        }))
      const { pid } = spawnSync(process.execPath, ["--version"])
      for (const text of [JSON.stringify({ pid, runs: [] }), "{", "x".repeat(200_000)]) {
        writeFileSync(`${file}.holder`, text)
        expect(yield* describeStoreHolder(file)).toEqual(Option.none())
      }
    }))

  it.scopedLive("are held here for as long as they are open, whatever the note for others says", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "berth.db")
      writeFileSync(`${file}.holder`, JSON.stringify({ pid: process.pid, runs: [] }))
      expect(yield* isHeldHere(file)).toBe(false)
      yield* using(file, (store) =>
        Effect.gen(function*() {
          yield* store.history.insert(stored(run(1)))
          rmSync(`${file}.holder`)
          expect(yield* isHeldHere(file)).toBe(true)
        }))
      expect(yield* isHeldHere(file)).toBe(false)
    }))

  it.scopedLive.each([
    { what: "damaged", damage: (file: string) => writeFileSync(file, Buffer.alloc(20_000, "x")) },
    { what: "truncated", damage: (file: string) => truncateSync(file, 4_097) }
  ])("are begun anew where the file is $what, and the old one is set aside", ({ damage }) =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const file = join(directory, "berth.db")
      yield* using(file, (store) =>
        Effect.forEach(
          Array.from({ length: 50 }, (_, index) => run(index)),
          (run) => store.history.insert(stored(run))
        ))
      damage(file)
      const broken = readFileSync(file)
      yield* using(file, (store) =>
        Effect.gen(function*() {
          expect((yield* store.history.list({})).runs).toEqual([])
          yield* store.history.insert(stored(run(1)))
        }))
      const aside = readdirSync(directory).filter((name) => name.startsWith("berth.db.corrupt-"))
      expect(aside.map((name) => readFileSync(join(directory, name)))).toEqual([broken])
      expect((yield* using(file, (store) => store.history.list({}))).runs).toHaveLength(1)
    }))

  it.scopedLive(
    "are refused at once where a directory is in the file's place, and kept once it is away",
    () =>
      Effect.gen(function*() {
        const file = join(yield* temporaryDirectory, "berth.db")
        mkdirSync(file)
        yield* using(file, (store) =>
          Effect.gen(function*() {
            expect((yield* Effect.flip(store.history.list({}))).message).toBe(
              `Runs cannot be recorded in ${file}: a directory is in its place. Move that away; it goes on by itself then`
            )
            // As at the end of a service, which nothing may hold up.
            yield* Effect.uninterruptible(store.ownership.release)
            expect(yield* Effect.uninterruptible(Effect.flip(store.history.check))).toMatchObject({ status: 503 })
            rmdirSync(file)
            yield* Effect.retry(store.history.insert(stored(run(1))), {
              schedule: Schedule.spaced("50 millis"),
              times: 400
            })
          }), "1 hour")
      }),
    30_000 * patience
  )

  it.scopedLive("are checked by a write, which tells how many bytes they take", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* using(join(directory, "berth.db"), (store) =>
        Effect.gen(function*() {
          yield* store.history.insert(stored(run(1)))
          const contents = () => readdirSync(directory).map((name) => readFileSync(join(directory, name), "base64"))
          const before = contents()
          const { bytes } = yield* store.history.check
          expect(bytes).toBeGreaterThan(4_096)
          expect(contents()).not.toEqual(before)
          expect((yield* store.history.list({})).runs).toHaveLength(1)
        }))
    }))

  it.scopedLive("are begun anew where the file is emptied", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "berth.db")
      yield* using(file, (store) => store.history.insert(stored(run(1))))
      truncateSync(file, 0)
      expect((yield* using(file, (store) => store.history.list({}))).runs).toEqual([])
    }))
})
