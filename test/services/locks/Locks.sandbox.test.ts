import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it, layer } from "@effect/vitest"
import { Cause, Context, Deferred, Duration, Effect, Exit, Fiber, Layer, Ref } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { breakStale, readLock } from "../../../src/services/locks/fileLock.ts"
import {
  Locks,
  locksLayer,
  LocksLive,
  makeApplicationLock,
  makeBuildLock,
  makeHooksLock,
  makeNamedLocks,
  makeProxyLock,
  makePullLock,
  makeSettingsLock
} from "../../../src/services/locks/Locks.ts"
import { compiled } from "../../fixtures/compiled.ts"
import { patience } from "../../fixtures/patience.ts"
import { slow } from "../../fixtures/thorough.ts"

const key = { rank: 1, name: "key" }

/** Locks that know nothing of the others in this process, as those of another process would. */
const otherLocks = Effect.map(Effect.scoped(Layer.build(Layer.fresh(LocksLive))), Context.get(Locks))

const workshop = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = yield* fs.makeTempDirectoryScoped({ prefix: "berth-locks-" })
  return { fs, directory, file: path.join(directory, "file"), at: (name: string) => path.join(directory, name) }
})

/** Counts how many are inside at once. */
const turnstile = Effect.map(Effect.all({ inside: Ref.make(0), most: Ref.make(0) }), ({ inside, most }) => ({
  most: Ref.get(most),
  pass: (stay: Effect.Effect<void>) =>
    Ref.updateAndGet(inside, (n) => n + 1).pipe(
      Effect.tap((n) => Ref.update(most, (m) => Math.max(m, n))),
      Effect.zipRight(stay),
      Effect.ensuring(Ref.update(inside, (n) => n - 1))
    )
}))

describe("the place of shared locks", () => {
  it.scopedLive("is there for others when who needed it first breaks off", () =>
    Effect.gen(function*() {
      const { at } = yield* workshop
      const { withLock } = Context.get(yield* Layer.build(locksLayer(at("locks"))), Locks)
      const lock = withLock(makeBuildLock("/projects/shop"))
      const first = yield* Effect.fork(lock(Effect.void))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(first)
      expect(yield* lock(Effect.succeed("held"))).toBe("held")
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("a lock of a file", () => {
  it.scopedLive("can be taken where nothing is interrupted, as in a finalizer", () =>
    Effect.gen(function*() {
      const { file } = yield* workshop
      const { withLock } = Context.get(yield* Layer.build(LocksLive), Locks)
      const lock = withLock({ ...key, file })
      expect(yield* Effect.uninterruptible(lock(Effect.succeed("held")))).toBe("held")
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("LocksLive within one process", () => {
  layer(LocksLive)((test) => {
    test.effect("lets one in at a time, in the order of arrival", () =>
      Effect.gen(function*() {
        const locks = yield* Locks
        const { most, pass } = yield* turnstile
        const order = yield* Ref.make<ReadonlyArray<number>>([])
        yield* Effect.forEach(Array.from({ length: 20 }, (_, index) => index), (index) =>
          locks.withLock(key)(
            Effect.zipRight(pass(Effect.yieldNow()), Ref.update(order, (all) => [...all, index]))
          ), { concurrency: "unbounded" })
        expect(yield* most).toBe(1)
        expect(yield* Ref.get(order)).toEqual(Array.from({ length: 20 }, (_, index) => index))
      }))

    test.effect("lets those with other keys in", () =>
      Effect.gen(function*() {
        const locks = yield* Locks
        const inner = locks.withLock({ rank: 2, name: "other" })(Effect.succeed("both"))
        expect(yield* locks.withLock(key)(inner)).toBe("both")
      }))

    test.effect("takes a lock out of order for a defect, be it by a fiber that was started under the first", () =>
      Effect.gen(function*() {
        const locks = yield* Locks
        const wrong = ["key", "other"].map((name) => locks.withLock({ rank: 1, name })(Effect.succeed("in")))
        for (const inner of [...wrong, ...wrong.map((each) => Effect.flatMap(Effect.fork(each), Fiber.join))]) {
          const exit = yield* Effect.exit(locks.withLock(key)(inner))
          expect(Exit.isFailure(exit) && Cause.isDie(exit.cause)).toBe(true)
        }
        // Taking them one after the other respects the order.
        yield* locks.withLock({ rank: 2, name: "other" })(Effect.void)
        expect(yield* locks.withLock(key)(Effect.succeed("in"))).toBe("in")
      }))

    test.effect("gives the lock back on failure and interruption, and passes the result on", () =>
      Effect.gen(function*() {
        const locks = yield* Locks
        expect(yield* Effect.flip(locks.withLock(key)(Effect.fail("no")))).toBe("no")
        const holder = yield* Effect.fork(locks.withLock(key)(Effect.never))
        yield* Effect.yieldNow()
        const waiting = yield* Effect.fork(locks.withLock(key)(Effect.never))
        yield* Effect.yieldNow()
        expect(Exit.isInterrupted(yield* Fiber.interrupt(waiting))).toBe(true)
        yield* Fiber.interrupt(holder)
        expect(yield* locks.withLock(key)(Effect.succeed("in"))).toBe("in")
      }))
  })

  it.effect("forgets a name with its last user, whatever became of them", () =>
    Effect.gen(function*() {
      const { names, withName } = yield* makeNamedLocks
      const gate = yield* Deferred.make<void>()
      const holder = yield* Effect.fork(withName("a", Deferred.await(gate)))
      const waiting = yield* Effect.fork(withName("a", Effect.never))
      const failing = yield* Effect.fork(withName("a", Effect.fail("no")))
      yield* Effect.yieldNow()
      expect(yield* names).toEqual(["a"])
      yield* Fiber.interrupt(waiting)
      expect(yield* names).toEqual(["a"])
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.all([Fiber.await(holder), Fiber.await(failing)])
      expect(yield* names).toEqual([])
    }))
})

describe("keys", () => {
  it("name a proxy file by where it is, not by the id of a server", () => {
    const behind = { host: "proxy.lan", port: 22, via: { host: "Gate.lan", port: 22 } }
    expect(makeProxyLock(behind, "/p.yml")).toMatchObject({
      shared: "The proxy file /p.yml on proxy.lan:22 through gate.lan:22"
    })
    expect(makeProxyLock(behind, "/p.yml").name).not.toBe(makeProxyLock({ host: "proxy.lan", port: 22 }, "/p.yml").name)
    expect(makeProxyLock({ host: "Proxy.lan", port: 22 }, "/p.yml")).toEqual(
      makeProxyLock({ host: "proxy.lan", port: 22 }, "/p.yml")
    )
    expect(makeProxyLock({ host: "proxy.lan", port: 23 }, "/p.yml")).not.toEqual(
      makeProxyLock({ host: "proxy.lan", port: 22 }, "/p.yml")
    )
  })
})

describe("LocksLive between processes", () => {
  layer(Layer.merge(LocksLive, NodeContext.layer), { excludeTestServices: true })((test) => {
    test.scoped("lets one in at a time and leaves nothing behind, whether or not the file exists", () =>
      Effect.gen(function*() {
        const { directory, file, fs } = yield* workshop
        const { most, pass } = yield* turnstile
        const processes = yield* Effect.all(Array.from({ length: 4 }, () => otherLocks))
        yield* Effect.forEach(
          processes,
          (locks) =>
            Effect.forEach([1, 2, 3], () => locks.withLock(makeSettingsLock(file))(pass(Effect.sleep("5 millis"))), {
              concurrency: "unbounded"
            }),
          { concurrency: "unbounded" }
        )
        expect(yield* most).toBe(1)
        expect(yield* fs.readDirectory(directory)).toEqual([])
      }))

    test.scoped.runIf(slow)("is had within seconds from a process that was killed", () =>
      Effect.gen(function*() {
        const { directory, file, fs } = yield* workshop
        const script = compiled(fileURLToPath(new URL("../../fixtures/holdLock.ts", import.meta.url)))
        const child = spawn(process.execPath, [script, file], {
          stdio: ["ignore", "pipe", "inherit"]
        })
        yield* Effect.async<void>((resume) => {
          child.stdout.once("data", () => resume(Effect.void))
        })
        const locks = yield* Locks
        const entered = yield* Effect.fork(locks.withLock(makeSettingsLock(file))(Effect.succeed("in")))
        // The holder renews its lock: it keeps others out for longer than a dead one's would.
        yield* Effect.sleep("6 seconds")
        expect((yield* Fiber.poll(entered))._tag).toBe("None")
        const killed = Date.now()
        child.kill("SIGKILL")
        expect(yield* Fiber.join(entered)).toBe("in")
        expect(Date.now() - killed).toBeLessThan(12_000)
        expect(yield* fs.readDirectory(directory)).toEqual([])
      }), 60_000 * patience)

    const staleLock = (file: string) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const longAgo = new Date(Math.floor(Date.now() / 1000) * 1000 - 60_000)
        yield* fs.makeDirectory(`${file}.lock`)
        yield* fs.utimes(`${file}.lock`, longAgo, longAgo)
        return { longAgo, lock: yield* readLock(`${file}.lock`) }
      })

    test.scoped("of a dead process is not taken from the one that took it first", () =>
      Effect.gen(function*() {
        const { directory, file, fs } = yield* workshop
        const { lock } = yield* staleLock(file)
        // Both saw the stale lock; one breaks it and takes it before the other goes on.
        yield* breakStale(lock)
        expect(yield* fs.readDirectory(directory)).toEqual([])
        yield* fs.makeDirectory(lock.directory)
        yield* breakStale(lock)
        expect(yield* fs.readDirectory(directory)).toEqual(["file.lock"])
      }))

    test.scoped("of a dead process is had by one at a time", () =>
      Effect.gen(function*() {
        const { directory, file, fs } = yield* workshop
        const { most, pass } = yield* turnstile
        const processes = yield* Effect.all(Array.from({ length: 8 }, () => otherLocks))
        yield* staleLock(file)
        yield* Effect.forEach(
          processes,
          (locks) => locks.withLock(makeSettingsLock(file))(pass(Effect.sleep("2 millis"))),
          { concurrency: "unbounded" }
        )
        expect(yield* most).toBe(1)
        expect(yield* fs.readDirectory(directory)).toEqual([])
      }))

    test.scoped("is had although one died while it removed a dead one's lock", () =>
      Effect.gen(function*() {
        const { directory, file, fs } = yield* workshop
        const { lock, longAgo } = yield* staleLock(file)
        const breaking = `${file}.lock-${lock.inode}-${lock.modified}`
        yield* fs.makeDirectory(breaking)
        yield* breakStale(lock)
        expect(yield* fs.exists(lock.directory)).toBe(true)
        yield* fs.utimes(breaking, longAgo, longAgo)
        const locks = yield* Locks
        expect(yield* locks.withLock(makeSettingsLock(file))(Effect.succeed("in"))).toBe("in")
        expect(yield* fs.readDirectory(directory)).toEqual([])
      }))

    test.scoped.runIf(slow)(
      "dated ahead is had once it was seen not to change, and no sooner",
      () =>
        Effect.gen(function*() {
          const { directory, file, fs } = yield* workshop
          const [one, two] = yield* Effect.all([otherLocks, otherLocks])
          const tomorrow = new Date(Date.now() + 86_400_000)
          // Its holder lives: the next renewal has the right time again.
          const inside = yield* Effect.makeLatch()
          const holder = yield* Effect.fork(
            one.withLock(makeSettingsLock(file))(Effect.zipRight(inside.open, Effect.never))
          )
          yield* inside.await
          const waiting = yield* Effect.fork(two.withLock(makeSettingsLock(file))(Effect.succeed("in")))
          yield* Effect.sleep("1500 millis")
          expect((yield* Fiber.poll(waiting))._tag).toBe("None")
          yield* Fiber.interrupt(holder)
          expect(yield* Fiber.join(waiting)).toBe("in")
          // Its holder died, and then the clock was set back.
          yield* fs.makeDirectory(`${file}.lock`)
          yield* fs.utimes(`${file}.lock`, tomorrow, tomorrow)
          const [took] = yield* Effect.timed(two.withLock(makeSettingsLock(file))(Effect.succeed("in")))
          expect(Duration.toMillis(took)).toBeGreaterThan(4_500)
          expect(Duration.toMillis(took)).toBeLessThan(15_000)
          expect(yield* fs.readDirectory(directory)).toEqual([])
        }),
      60_000 * patience
    )

    test.scoped("keeps the user's other processes out of what has no file of its own", () =>
      Effect.gen(function*() {
        const { at, fs } = yield* workshop
        const directory = at("locks")
        const processOf = Effect.map(Effect.scoped(Layer.build(Layer.fresh(locksLayer(directory)))), Context.get(Locks))
        const server = { host: "main", port: 22 }
        const keys = [
          makeApplicationLock("https://platform.test", "shop"),
          makeBuildLock("/projects/hello"),
          makePullLock(server),
          makeProxyLock(server, "/etc/proxy.yml"),
          makeHooksLock({ owner: "me", name: "shop" })
        ]
        for (const key of keys) {
          const { most, pass } = yield* turnstile
          const processes = yield* Effect.all([processOf, processOf, processOf])
          yield* Effect.forEach(processes, (locks) => locks.withLock(key)(pass(Effect.sleep("20 millis"))), {
            concurrency: "unbounded"
          })
          expect([key.name, yield* most]).toEqual([key.name, 1])
        }
        expect(yield* fs.readDirectory(directory)).toEqual([])
        expect((yield* fs.stat(directory)).mode & 0o077).toBe(0)
      }))

    test.scoped("clears what killed processes left in the shared directory, and does without one where there is none", () =>
      Effect.gen(function*() {
        const { at, file, fs } = yield* workshop
        const directory = at("locks")
        const longAgo = new Date(Date.now() - 2 * 3_600_000)
        yield* fs.makeDirectory(`${directory}/old.lock`, { recursive: true })
        yield* fs.makeDirectory(`${directory}/new.lock`)
        yield* fs.utimes(`${directory}/old.lock`, longAgo, longAgo)
        const key = makeBuildLock("/projects/hello")
        const use = (place: string) =>
          Effect.provide(Effect.flatMap(Locks, (locks) => locks.withLock(key)(Effect.succeed("in"))), locksLayer(place))
        expect(yield* use(directory)).toBe("in")
        expect(yield* fs.readDirectory(directory)).toEqual(["new.lock"])
        yield* fs.writeFileString(file, "")
        expect(yield* use(`${file}/locks`)).toBe("in")
      }))

    test.scoped("can be waited for no longer", () =>
      Effect.gen(function*() {
        const { directory, file, fs } = yield* workshop
        const [one, two] = yield* Effect.all([otherLocks, otherLocks])
        const inside = yield* Effect.makeLatch()
        const holder = yield* Effect.fork(
          one.withLock(makeSettingsLock(file))(Effect.zipRight(inside.open, Effect.never))
        )
        yield* inside.await
        const waiting = yield* Effect.fork(two.withLock(makeSettingsLock(file))(Effect.never))
        yield* Effect.sleep("50 millis")
        const exit = yield* Effect.timeout(Fiber.interrupt(waiting), "5 seconds")
        expect(Exit.isInterrupted(exit)).toBe(true)
        expect(yield* fs.readDirectory(directory)).toEqual(["file.lock"])
        yield* Fiber.interrupt(holder)
        expect(yield* fs.readDirectory(directory)).toEqual([])
      }))

    test.scoped("stops what runs under it when it is lost", () =>
      Effect.gen(function*() {
        const { file, fs } = yield* workshop
        const locks = yield* Locks
        const stopped = yield* Ref.make(false)
        const holder = yield* Effect.fork(
          locks.withLock(makeSettingsLock(file))(Effect.onInterrupt(Effect.never, () => Ref.set(stopped, true)))
        )
        yield* fs.exists(`${file}.lock`).pipe(Effect.repeat({ until: (exists) => exists }))
        yield* fs.remove(`${file}.lock`, { recursive: true })
        const error = yield* Effect.flip(Effect.timeout(Fiber.join(holder), "10 seconds"))
        expect(error.message).toContain(`${file} cannot be locked: the lock was lost`)
        expect(yield* Ref.get(stopped)).toBe(true)
      }))

    test.scoped("fails at once where there is no place for it", () =>
      Effect.gen(function*() {
        const { at } = yield* workshop
        const locks = yield* Locks
        const path = yield* Path.Path
        const file = path.join(at("none"), "file")
        const error = yield* Effect.flip(
          Effect.timeout(locks.withLock(makeSettingsLock(file))(Effect.void), "5 seconds")
        )
        expect(error.message).toBe(
          `${file} cannot be locked: the directory does not exist (the lock is the directory ${file}.lock)`
        )
      }))
  })
})
