import { describe, expect, it, layer } from "@effect/vitest"
import {
  Cause,
  Chunk,
  Context,
  Data,
  Deferred,
  Effect,
  Exit,
  Fiber,
  Layer,
  Option,
  Ref,
  Schema,
  Scope,
  Stream,
  TestClock
} from "effect"
import { type Run, type RunKind, RunStoreUnavailable } from "../../../src/schema/runs.ts"
import { runLimit } from "../../../src/services/limits.ts"
import { LocksLive } from "../../../src/services/locks/Locks.ts"
import { runsLayer } from "../../../src/services/runs/engine.ts"
import { emitOutput } from "../../../src/services/runs/output.ts"
import { RunRequest, Runs, type RunSpec } from "../../../src/services/runs/Runs.ts"
import { executeDurableStep, executeStep, Steps } from "../../../src/services/runs/Steps.ts"
import { RunHistory, type RunOwnership, type RunStore, runStoreLayer } from "../../../src/services/runs/store.ts"
import { makeRunStoreMemory, runsTest, RunStoreMemory } from "../../../src/testing/RunsTest.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"

const live = Layer.provideMerge(runsTest, settingsTest())

class No extends Data.TaggedError("No")<{ readonly message: string }> {
  readonly status = 418
}

/** A run of this kind whose result is any JSON; those of one key follow each other. */
const spec = (
  kind: RunKind,
  key = "key",
  afterRestart: RunSpec<unknown, unknown>["afterRestart"] = "give up"
): RunSpec<unknown, unknown> => ({
  kind,
  key: { rank: 1, name: key },
  subject: { appName: key },
  request: {},
  result: Schema.Unknown,
  afterRestart
})

/** Lets every fiber go on as far as it can. */
const settle = Effect.repeatN(Effect.yieldNow(), 50)
const newest = Effect.flatMap(Runs, (runs) => Effect.map(runs.list({ limit: 1 }), ({ runs: [run] }) => run))
const newestId = Effect.map(newest, (run) => run?.id ?? "")
const newestOf = (runs: Runs["Type"]) => Effect.map(runs.list({ limit: 1 }), ({ runs: [run] }) => run?.id ?? "")
const count = (counter: Ref.Ref<number>) => Ref.update(counter, (before) => before + 1)
const texts = (events: Iterable<{ readonly event: string }>) => [...events].map(({ event }) => event)

/** A process of the service over a store that outlives it, and what a shutdown of it is. */
const processOver = (store: Layer.Layer<RunHistory | RunOwnership>, drain: `${number} seconds` = "25 seconds") =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const services = runsLayer(drain).pipe(Layer.provide([LocksLive, store, settingsTest()]))
    const context = yield* Layer.buildWithScope(services, scope)
    return { runs: Context.get(context, Runs), shutdown: Scope.close(scope, Exit.void) }
  })
const sharedStore = Effect.map(Layer.build(RunStoreMemory), (context) => Layer.succeedContext(context))

describe("the store of runs", () => {
  it.scoped("counts as unusable while what happened cannot be written", () =>
    Effect.gen(function*() {
      const full = yield* Ref.make(false)
      const { history, ownership } = yield* makeRunStoreMemory
      const unavailable = new RunStoreUnavailable({ store: "memory", reason: "the disk is full" })
      const flaky: RunHistory["Type"] = {
        ...history,
        check: Effect.succeed({ store: "memory", bytes: 8_192 }),
        save: (run, attempt) =>
          Effect.if(full, { onTrue: () => unavailable, onFalse: () => history.save(run, attempt) })
      }
      const { runs } = yield* processOver(runStoreLayer(Effect.succeed({ history: flaky, ownership })))
      expect(yield* runs.checkStore).toEqual({ store: "memory", bytes: 8_192 })
      yield* Ref.set(full, true)
      const run = yield* Effect.fork(runs.run(spec("build"), Effect.succeed(1)))
      yield* TestClock.adjust("10 seconds")
      expect(yield* Fiber.join(run)).toBe(1)
      expect(yield* Effect.flip(runs.checkStore)).toBe(unavailable)
      yield* Ref.set(full, false)
      yield* TestClock.adjust("10 seconds")
      expect(yield* runs.checkStore).toEqual({ store: "memory", bytes: 8_192 })
      expect((yield* runs.list({})).runs).toMatchObject([{ kind: "build", state: "succeeded" }])
    }))
})

describe("a run that is queued", () => {
  it.scoped("tells for which run of its queue it waits, and for the next one when that has ended", () =>
    Effect.gen(function*() {
      const { runs } = yield* processOver(yield* sharedStore)
      const gates = yield* Effect.all([1, 2, 3].map(() => Deferred.make<number>()))
      const ahead = (run: Run) => run.waitsFor?.id
      const by = { door: "cli", name: "ann" } as const
      const start = (index: number) =>
        Effect.flatMap(RunRequest, (request) =>
          Effect.provideService(
            runs.start(
              spec("deploy", "path"),
              gates[index] === undefined ? Effect.never : Deferred.await(gates[index])
            ),
            RunRequest,
            { ...request, requestedBy: by }
          ))
      const first = yield* start(0)
      yield* settle
      const [second, third] = [yield* start(1), yield* start(2)]
      const other = yield* runs.start(spec("deploy", "another path"), Effect.succeed(1))
      expect([first.run, second.run, third.run, other.run].map(ahead)).toEqual([
        undefined,
        first.run.id,
        first.run.id,
        undefined
      ])
      expect(second.run.waitsFor).toEqual({
        id: first.run.id,
        kind: "deploy",
        subject: { appName: "path" },
        requestedBy: by
      })
      const heard = yield* Effect.fork(
        Stream.runCollect(yield* runs.events(third.run.id, Option.none())).pipe(Effect.map(Chunk.toReadonlyArray))
      )
      yield* settle
      expect((yield* runs.list({})).runs.map(ahead)).toEqual([undefined, first.run.id, first.run.id, undefined])

      if (gates[0] !== undefined) yield* Deferred.succeed(gates[0], 1)
      yield* settle
      expect(yield* runs.get(second.run.id)).toMatchObject({ state: "running" })
      expect(yield* runs.get(second.run.id)).not.toHaveProperty("waitsFor")
      expect(ahead(yield* runs.get(third.run.id))).toBe(second.run.id)
      yield* runs.cancel(second.run.id)
      yield* settle
      expect(yield* runs.get(third.run.id)).not.toHaveProperty("waitsFor")
      yield* runs.cancel(third.run.id)
      const told = (yield* Fiber.join(heard)).filter(({ event }) => event === "run")
      const ids = told.map(({ data }) => ahead(JSON.parse(data)))
      expect([...new Set(ids)]).toEqual([first.run.id, second.run.id, undefined])
    }))

  it.scoped("tells nothing of a store that cannot be read, and waits all the same", () =>
    Effect.gen(function*() {
      const { history, ownership } = yield* makeRunStoreMemory
      const heads = () => new RunStoreUnavailable({ store: "memory", reason: "it is away" })
      const { runs } = yield* processOver(
        runStoreLayer(Effect.succeed({ history, ownership: { ...ownership, heads } }))
      )
      yield* runs.start(spec("deploy"), Effect.never)
      yield* settle
      const { run } = yield* runs.start(spec("deploy"), Effect.never)
      yield* settle
      expect(yield* runs.get(run.id)).toEqual(run)
      expect(run).toMatchObject({ state: "queued" })
      expect(run).not.toHaveProperty("waitsFor")
    }))
})

describe("a queue of runs", () => {
  it.scoped("is looked at once for each run that begins or ends, whatever its length", () =>
    Effect.gen(function*() {
      const { history, ownership } = yield* makeRunStoreMemory
      const [asked, saved] = yield* Effect.all([Ref.make(0), Ref.make(0)])
      const counted = {
        history: { ...history, save: (run, attempt) => Effect.zipRight(count(saved), history.save(run, attempt)) },
        ownership: { ...ownership, heads: (queues) => Effect.zipRight(count(asked), ownership.heads(queues)) }
      } satisfies RunStore
      const { runs } = yield* processOver(runStoreLayer(Effect.succeed(counted)))
      const length = 30
      const started = yield* Effect.replicateEffect(runs.start(spec("deploy"), Effect.sleep("1 second")), length)
      yield* TestClock.adjust("1 minute")
      yield* Effect.forEach(started, ({ result }) => result)
      expect(yield* Ref.get(asked)).toBeLessThanOrEqual(2 * length)
      expect(yield* Ref.get(saved)).toBeLessThanOrEqual(2 * length)
    }))
})

describe("a run whose end is not stored yet", () => {
  /** A store that refuses to save for two seconds after the start, and then answers late. */
  const slowStore = Effect.gen(function*() {
    const { history, ownership } = yield* makeRunStoreMemory
    const isRefusing = yield* Ref.make(false)
    const saving = yield* Deferred.make<void>()
    const away = new RunStoreUnavailable({ store: "memory", reason: "it is away" })
    const save: RunHistory["Type"]["save"] = (run, attempt) =>
      run.state === "running" ? history.save(run, attempt) : Effect.if(isRefusing, {
        onTrue: () => away,
        onFalse: () => Effect.zipRight(Deferred.await(saving), history.save(run, attempt))
      })
    return { store: runStoreLayer(Effect.succeed({ history: { ...history, save }, ownership })), isRefusing, saving }
  })

  it.scoped("has ended for everybody, cannot be cancelled, and is in no other hands until it is stored", () =>
    Effect.gen(function*() {
      const { isRefusing, saving, store } = yield* slowStore
      const { runs } = yield* processOver(store)
      yield* Ref.set(isRefusing, true)
      const { result, run: { id } } = yield* runs.start(spec("build"), Effect.succeed(1))
      yield* TestClock.adjust("3 seconds")
      expect(yield* result).toBe(1)
      const looks = Effect.gen(function*() {
        expect(yield* runs.get(id)).toMatchObject({ state: "succeeded", result: 1 })
        expect((yield* runs.list({})).runs).toMatchObject([{ state: "succeeded" }])
        expect(yield* runs.isHere(id)).toBe(true)
        expect(yield* Effect.flip(runs.cancel(id))).toMatchObject({ _tag: "RunEnded" })
      })
      yield* looks
      yield* Ref.set(isRefusing, false)
      yield* TestClock.adjust("1 second")
      // It is being saved now.
      yield* looks
      yield* Deferred.succeed(saving, undefined)
      yield* settle
      expect(yield* runs.isHere(id)).toBe(false)
      expect(yield* runs.get(id)).toMatchObject({ state: "succeeded", result: 1 })
    }))
})

describe("a run that is being inserted", () => {
  it.scoped("is cancelled as one that waits, by whoever cancels it", () =>
    Effect.gen(function*() {
      const { history, ownership } = yield* makeRunStoreMemory
      const insert: RunHistory["Type"]["insert"] = (stored) =>
        Effect.zipLeft(history.insert(stored), Effect.sleep("1 second"))
      const { runs } = yield* processOver(
        runStoreLayer(Effect.succeed({ history: { ...history, insert }, ownership }))
      )
      const first = yield* Effect.fork(runs.run(spec("deploy"), Effect.never))
      yield* TestClock.adjust("2 seconds")
      const caller = yield* Effect.fork(runs.run(spec("deploy"), Effect.dieMessage("began")))
      yield* settle
      const cancelling = yield* Effect.fork(runs.cancel(yield* newestOf(runs)))
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(cancelling)).toMatchObject({ state: "cancelled", startedAt: null })
      expect(yield* Effect.flip(Fiber.join(caller))).toMatchObject({ _tag: "RunCancelled" })
      yield* Fiber.interrupt(first)
    }))
})

describe("the capacity for runs", () => {
  const as = (name: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(
      RunRequest,
      (request) => Effect.provideService(effect, RunRequest, { ...request, requestedBy: { door: "http", name } })
    )

  it.scoped(
    "is bounded for each caller and for all, and given back by each run that ends",
    () =>
      Effect.gen(function*() {
        const store = yield* sharedStore
        const { runs } = yield* processOver(store)
        const start = runs.start(spec("build"), Effect.never)
        const ids = (name: string, count: number) =>
          Effect.map(
            Effect.forEach(Array.from({ length: count }), () => as(name)(start)),
            (started) => started.map(({ run }) => run.id)
          )
        const [first = ""] = yield* ids("ann", runLimit.each)
        const refused = yield* Effect.flip(as("ann")(start))
        expect(refused).toMatchObject({ status: 429, retryAfter: 30 })
        expect(refused.message).toBe(
          `Too many runs: ${runLimit.each} of "ann" wait or are under way, which is as many as there can be. Nothing ` +
            "was started: wait until some of them have ended, or cancel those that are no longer wanted"
        )
        yield* runs.cancel(first)
        yield* ids("ann", 1)
        expect(yield* Effect.flip(as("ann")(start))).toMatchObject({ status: 429 })
        for (const name of ["ben", "cleo", "dan"]) yield* ids(name, runLimit.each)
        const full = yield* Effect.flip(as("eve")(start))
        expect(full.message).toContain(`${runLimit.all} of all callers together`)
        expect((yield* runs.list({ limit: 500 })).runs).toHaveLength(runLimit.all + 1)
      }),
    30_000
  )

  it.scoped(
    "holds back no run that is a part of another one, which has its place already",
    () =>
      Effect.gen(function*() {
        const { runs } = yield* processOver(yield* sharedStore)
        const start = as("ann")(runs.start(spec("build"), Effect.never))
        yield* Effect.replicateEffect(start, runLimit.each)
        expect(yield* Effect.flip(start)).toMatchObject({ status: 429 })
        const part = Effect.flatMap(RunRequest, (request) =>
          Effect.provideService(runs.start(spec("deploy", "other"), Effect.succeed(1)), RunRequest, {
            ...request,
            parent: "01m80yqq5mpfzvahn1sfvx7mvm"
          }))
        const { result, run } = yield* as("ann")(part)
        expect(run.parent).toBe("01m80yqq5mpfzvahn1sfvx7mvm")
        expect(yield* result).toBe(1)
      }),
    30_000
  )

  it.scoped("is given back by a run that could not be recorded", () =>
    Effect.gen(function*() {
      const { history, ownership } = yield* makeRunStoreMemory
      const away = new RunStoreUnavailable({ store: "memory", reason: "it is away" })
      const refusing = { ...history, insert: () => away }
      const { runs } = yield* processOver(runStoreLayer(Effect.succeed({ history: refusing, ownership })))
      for (let index = 0; index <= runLimit.each; index++) {
        expect(yield* Effect.flip(runs.start(spec("build"), Effect.never))).toBe(away)
      }
    }))
})

describe("a defect while a run is started", () => {
  it.scoped("gives its capacity back, and leaves nothing under way", () =>
    Effect.gen(function*() {
      const { history, ownership } = yield* makeRunStoreMemory
      const insert = () => Effect.dieMessage("bug")
      const { runs, shutdown } = yield* processOver(
        runStoreLayer(Effect.succeed({ history: { ...history, insert }, ownership }))
      )
      for (let index = 0; index <= runLimit.each; index++) {
        const exit = yield* Effect.exit(runs.start(spec("build"), Effect.never))
        expect(Exit.isFailure(exit) && Cause.isDie(exit.cause)).toBe(true)
      }
      yield* shutdown
    }))

  it.scoped("is of no matter where it only concerns which run is waited for", () =>
    Effect.gen(function*() {
      const { history, ownership } = yield* makeRunStoreMemory
      const heads = () => Effect.dieMessage("bug")
      const { runs } = yield* processOver(
        runStoreLayer(Effect.succeed({ history, ownership: { ...ownership, heads } }))
      )
      const started = yield* Effect.replicateEffect(runs.start(spec("build"), Effect.succeed(1)), 3)
      expect(yield* Effect.forEach(started, ({ result }) => result)).toEqual([1, 1, 1])
    }))
})

describe("Runs", () => {
  layer(live)((test) => {
    test.effect("answers what the program answers, and fails as it fails", () =>
      Effect.gen(function*() {
        const runs = yield* Runs
        expect(yield* runs.run(spec("build"), Effect.succeed(1))).toBe(1)
        expect(yield* newest).toMatchObject({ kind: "build", state: "succeeded", result: 1, error: null })
        expect(yield* Effect.flip(runs.run(spec("build"), new No({ message: "no" })))).toBeInstanceOf(No)
        expect(yield* newest).toMatchObject({ state: "failed", result: null, error: { status: 418, error: "no" } })
      }))

    test.effect("records who asked, and when what happened", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(0)
        const runs = yield* Runs
        const told = yield* Deferred.make<Run>()
        const slow = executeStep("first", Effect.sleep("3 seconds"), () => "ok")
        const fiber = yield* Effect.fork(
          Effect.provideService(runs.run(spec("deploy"), slow), RunRequest, {
            requestedBy: { door: "http", name: "ann" },
            idempotency: Option.none(),
            started: (run) => Effect.asVoid(Deferred.succeed(told, run)),
            isUsed: () => Effect.void
          })
        )
        yield* settle
        const { id, ...queued } = yield* Deferred.await(told)
        expect(queued).toMatchObject({ state: "queued", startedAt: null, endedAt: null, steps: [] })
        expect(yield* runs.get(id)).toMatchObject({ state: "running", startedAt: "1970-01-01T00:00:00.000Z" })
        yield* TestClock.adjust("3 seconds")
        yield* Fiber.join(fiber)
        expect(yield* runs.get(id)).toMatchObject({
          requestedBy: { door: "http", name: "ann" },
          requestedAt: "1970-01-01T00:00:00.000Z",
          endedAt: "1970-01-01T00:00:03.000Z",
          steps: [{
            step: "first",
            status: "done",
            detail: "ok",
            startedAt: "1970-01-01T00:00:00.000Z",
            endedAt: "1970-01-01T00:00:03.000Z"
          }]
        })
      }))

    test.effect("tells its steps to any number of watchers, and to late ones what they missed", () =>
      Effect.gen(function*() {
        const runs = yield* Runs
        const gate = yield* Deferred.make<string>()
        const program = Effect.zipRight(
          executeStep("first", Effect.void, () => "ok"),
          executeStep("second", Deferred.await(gate), (detail) => detail)
        )
        const fiber = yield* Effect.fork(runs.run(spec("upsert"), program))
        yield* settle
        const id = yield* newestId
        const watch = (after?: number) => Effect.flatMap(runs.events(id, Option.fromNullable(after)), Stream.runCollect)
        const watchers = yield* Effect.forEach(
          Array.from({ length: 50 }),
          () => Effect.fork(watch())
        )
        const late = yield* Effect.fork(watch(2))
        const never = yield* Effect.fork(
          Effect.flatMap(runs.events(id, Option.none()), Stream.runForEach(() => Effect.never))
        )
        yield* settle
        yield* Deferred.succeed(gate, "fine")
        yield* Fiber.join(fiber)
        for (const watcher of watchers) {
          expect(texts(yield* Fiber.join(watcher))).toEqual(["run", "run", "run", "end"])
        }
        const events = Chunk.toReadonlyArray(yield* Fiber.join(late))
        expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 3))
        expect(JSON.parse(events.at(-1)?.data ?? "")).toMatchObject({ state: "succeeded" })
        expect(texts(yield* watch())).toEqual(["run", "end"])
        yield* Fiber.interrupt(never)
      }))

    test.effect("tells the last lines of a step's program before the end of the step, also one without a line break", () =>
      Effect.gen(function*() {
        const runs = yield* Runs
        const gate = yield* Deferred.make<void>()
        const built = Effect.gen(function*() {
          const lines = yield* emitOutput("stdout")
          for (const text of ["one\n", "two\nthree\n", "the end"]) yield* lines.emit(text)
          yield* lines.end
        })
        const program = Effect.zipRight(Deferred.await(gate), executeStep("build", built, () => "built"))
        const fiber = yield* Effect.fork(runs.run(spec("build"), program))
        yield* settle
        const watcher = yield* Effect.fork(
          Effect.flatMap(runs.events(yield* newestId, Option.none()), Stream.runCollect)
        )
        yield* settle
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(fiber)
        const events = [...yield* Fiber.join(watcher)].map(({ data, event }) => [event, data] as const)
        expect(events.flatMap(([event, data]) => event === "output" ? [JSON.parse(data).text] : [])).toEqual([
          "one\n",
          "two\nthree\nthe end"
        ])
        const isDone = ([, data]: readonly [string, string]) => data.includes(`"status":"done"`)
        expect(events.findIndex(isDone)).toBeGreaterThan(events.findLastIndex(([event]) => event === "output"))
      }))

    test.effect("goes on when the caller goes away, however early", () =>
      Effect.gen(function*() {
        const runs = yield* Runs
        const gate = yield* Deferred.make<void>()
        const done = yield* Ref.make(false)
        const program = Effect.zipRight(Deferred.await(gate), Ref.set(done, true))
        const caller = yield* Effect.fork(runs.run(spec("deploy"), program))
        yield* settle
        expect(Exit.isInterrupted(yield* Fiber.interrupt(caller))).toBe(true)
        const id = yield* newestId
        yield* Deferred.succeed(gate, undefined)
        expect(yield* runs.await(id)).toMatchObject({ state: "succeeded" })
        expect(yield* Ref.get(done)).toBe(true)
      }))

    test.effect("lets runs of one key follow each other in their order, and others run beside them", () =>
      Effect.gen(function*() {
        const runs = yield* Runs
        const gate = yield* Deferred.make<void>()
        const order = yield* Ref.make<ReadonlyArray<string>>([])
        const note = (name: string) => Ref.update(order, (all) => [...all, name])
        const first = Effect.zipRight(note("in"), Effect.zipRight(Deferred.await(gate), note("out")))
        const fibers = yield* Effect.forEach(
          [first, note("second"), note("third")],
          (program) => Effect.zipLeft(Effect.fork(runs.run(spec("upsert", "turns"), program)), settle)
        )
        expect((yield* runs.list({ appName: "turns" })).runs.map(({ state }) => state)).toEqual([
          "queued",
          "queued",
          "running"
        ])
        yield* runs.run(spec("upsert", "other"), note("beside"))
        expect(yield* Ref.get(order)).toEqual(["in", "beside"])
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.joinAll(fibers)
        expect(yield* Ref.get(order)).toEqual(["in", "beside", "out", "second", "third"])
      }))

    test.effect("says nothing of a defect but that there was one, and goes on with the next run", () =>
      Effect.gen(function*() {
        const runs = yield* Runs
        yield* Effect.exit(runs.run(spec("pull"), Effect.die("bug")))
        expect((yield* newest)?.error).toEqual({ status: 500, error: "Internal error: see the service's log" })
        expect(yield* runs.run(spec("pull"), Effect.succeed("next"))).toBe("next")
      }))

    test.effect("cancels a run that waits before it begins, one under way where it is, and none twice", () =>
      Effect.gen(function*() {
        const runs = yield* Runs
        const undone = yield* Ref.make(false)
        const long = executeStep("upload", Effect.onInterrupt(Effect.never, () => Ref.set(undone, true)), () => "")
        const first = yield* Effect.fork(runs.run(spec("deploy"), long))
        yield* settle
        const firstId = yield* newestId
        const second = yield* Effect.fork(runs.run(spec("deploy"), Effect.die("began")))
        yield* settle
        const queued = yield* runs.cancel(yield* newestId)
        expect(queued).toMatchObject({ state: "cancelled", startedAt: null, error: { status: 409 } })
        expect(queued.error?.error).toContain("before it began")
        expect(yield* runs.cancel(firstId)).toMatchObject({
          state: "cancelled",
          steps: [{ step: "upload", status: "error", detail: "cancelled" }],
          error: { status: 409, error: expect.stringContaining("The deploy was cancelled at upload.") }
        })
        expect(yield* Ref.get(undone)).toBe(true)
        for (const fiber of [first, second]) {
          expect(yield* Effect.flip(Fiber.join(fiber))).toMatchObject({ _tag: "RunCancelled" })
        }
        expect(yield* Effect.flip(runs.cancel(firstId))).toMatchObject({ status: 409 })
        expect(yield* Effect.flip(runs.cancel("none"))).toMatchObject({ status: 404 })
      }))

    test.effect("lets a durable step come to its end before it cancels", () =>
      Effect.gen(function*() {
        const runs = yield* Runs
        const done = yield* Ref.make<ReadonlyArray<string>>([])
        const slow = (name: string) =>
          executeDurableStep(
            name,
            Schema.Void,
            () => Effect.zipRight(Effect.sleep("1 second"), Ref.update(done, (all) => [...all, name])),
            () => "ok"
          )
        yield* Effect.fork(runs.run(spec("upsert"), Effect.zipRight(slow("a"), slow("b"))))
        yield* settle
        const cancelling = yield* Effect.fork(runs.cancel(yield* newestId))
        yield* TestClock.adjust("1 second")
        expect(yield* Fiber.join(cancelling)).toMatchObject({ state: "cancelled" })
        yield* TestClock.adjust("5 seconds")
        expect(yield* Ref.get(done)).toEqual(["a"])
      }))

    test.effect("lists the newest first, page by page, by what is asked for", () =>
      Effect.gen(function*() {
        const runs = yield* Runs
        yield* Effect.forEach(
          Array.from({ length: 7 }, (_, index) => index),
          (index) => runs.run(spec("rollback", `page${index % 2}`), Effect.succeed(index))
        )
        const first = yield* runs.list({ kind: "rollback", limit: 3 })
        expect(first.runs.map(({ result }) => result)).toEqual([6, 5, 4])
        const rest = yield* runs.list({ kind: "rollback", before: first.next ?? "" })
        expect(rest).toMatchObject({ next: null, runs: [{ result: 3 }, { result: 2 }, { result: 1 }, { result: 0 }] })
        expect((yield* runs.list({ appName: "page1", state: "succeeded" })).runs).toHaveLength(3)
      }))

    test.effect("gives no program more than its own steps", () =>
      Effect.gen(function*() {
        const runs = yield* Runs
        expect(yield* runs.run(spec("build"), Effect.flatMap(Steps, (steps) => steps.all))).toEqual([])
      }))
  })

  it.scoped("lets a shutdown wait for what is under way", () =>
    Effect.gen(function*() {
      const { runs, shutdown } = yield* processOver(yield* sharedStore)
      const done = yield* Ref.make(false)
      yield* Effect.fork(runs.run(spec("deploy"), Effect.zipRight(Effect.sleep("20 seconds"), Ref.set(done, true))))
      yield* settle
      const closing = yield* Effect.fork(shutdown)
      yield* TestClock.adjust("19 seconds")
      expect(yield* Fiber.poll(closing)).toEqual(Option.none())
      expect(yield* Effect.flip(runs.run(spec("deploy"), Effect.void))).toMatchObject({ status: 503 })
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(closing)
      expect(yield* Ref.get(done)).toBe(true)
    }).pipe(Effect.provide(settingsTest())))

  it.scoped("lets a shutdown end what does not end by itself, which undoes what it began and says so", () =>
    Effect.gen(function*() {
      const store = yield* sharedStore
      const { runs, shutdown } = yield* processOver(store, "5 seconds")
      const undone = yield* Ref.make(false)
      const program = executeStep("upload", Effect.onInterrupt(Effect.never, () => Ref.set(undone, true)), () => "")
      yield* Effect.fork(Effect.uninterruptible(runs.run(spec("deploy"), program)))
      yield* settle
      const closing = yield* Effect.fork(shutdown)
      yield* TestClock.adjust("4 seconds")
      expect(yield* Ref.get(undone)).toBe(false)
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(closing)
      expect(yield* Ref.get(undone)).toBe(true)
      const [run] = (yield* Effect.provide(Effect.flatMap(RunHistory, (store) => store.list({})), store)).runs
      expect(run).toMatchObject({ state: "interrupted", error: { status: 503 } })
    }).pipe(Effect.provide(settingsTest())))

  it.scoped("goes on after a restart with the step that had not finished, and repeats no other", () =>
    Effect.gen(function*() {
      const store = yield* sharedStore
      const performed = yield* Ref.make<ReadonlyArray<string>>([])
      const slow = (name: string) =>
        executeDurableStep(
          name,
          Schema.String,
          (isRepeated) =>
            Ref.update(performed, (all) => [...all, isRepeated ? `${name} again` : name]).pipe(
              Effect.zipRight(Effect.sleep("1 second")),
              Effect.as(`result of ${name}`)
            ),
          (result) => result
        )
      const program = Effect.all([slow("a"), slow("b"), slow("c")])
      const first = yield* processOver(store)
      const caller = yield* Effect.fork(first.runs.run(spec("upsert", "key", "resume"), program))
      yield* settle
      yield* TestClock.adjust("1500 millis")
      const closing = yield* Effect.fork(first.shutdown)
      yield* TestClock.adjust("500 millis")
      yield* Fiber.join(closing)
      expect(yield* Effect.flip(Fiber.join(caller))).toMatchObject({ _tag: "RunInterrupted", resumes: true })
      expect(yield* Ref.get(performed)).toEqual(["a", "b"])

      const second = yield* processOver(store)
      yield* second.runs.recover((_, goOn) => goOn(spec("upsert", "key", "resume"), program))
      yield* settle
      yield* TestClock.adjust("1 second")
      const { runs: [run] } = yield* second.runs.list({})
      expect(run).toMatchObject({ state: "succeeded", result: ["result of a", "result of b", "result of c"] })
      expect(run?.steps.map(({ detail }) => detail)).toEqual(["result of a", "result of b", "result of c"])
      expect(yield* Ref.get(performed)).toEqual(["a", "b", "c"])
    }).pipe(Effect.provide(settingsTest())))

  it.scoped("lets what a killed process left of a key go before the next run of it, and no other run wait", () =>
    Effect.gen(function*() {
      const store = yield* sharedStore
      const killed = yield* processOver(store)
      yield* Effect.fork(killed.runs.run(spec("upsert", "key", "resume"), Effect.never))
      yield* settle
      const order = yield* Ref.make<ReadonlyArray<string>>([])
      const note = (name: string) => Ref.update(order, (all) => [...all, name])
      const { runs } = yield* processOver(store)
      const next = yield* Effect.fork(runs.run(spec("upsert"), note("next")))
      yield* runs.run(spec("upsert", "other"), note("other"))
      yield* settle
      expect(yield* Ref.get(order)).toEqual(["other"])
      expect(yield* runs.recover((_, goOn) => goOn(spec("upsert", "key", "resume"), note("left")))).toBe(true)
      yield* Fiber.join(next)
      expect(yield* Ref.get(order)).toEqual(["other", "left", "next"])
    }).pipe(Effect.provide(settingsTest())))

  it.scoped("recovers the runs of each key in order, and waits for no other key to do so", () =>
    Effect.gen(function*() {
      const store = yield* sharedStore
      const killed = yield* processOver(store)
      for (const key of ["slow", "quick", "slow", "quick"]) {
        yield* Effect.fork(killed.runs.run(spec("upsert", key, "resume"), Effect.never))
        yield* settle
      }
      const gate = yield* Deferred.make<void>()
      const order = yield* Ref.make<ReadonlyArray<string>>([])
      const { runs } = yield* processOver(store)
      const recovering = yield* Effect.fork(runs.recover(({ queue, run }, goOn) =>
        Effect.gen(function*() {
          if (queue === "slow") yield* Deferred.await(gate)
          return yield* goOn(spec("upsert", queue, "resume"), Ref.update(order, (all) => [...all, run.id]))
        })
      ))
      yield* settle
      const { runs: found } = yield* runs.list({})
      const idsOf = (key: string) =>
        found.flatMap(({ id, subject }) => subject.appName === key ? [id] : []).toReversed()
      expect(yield* Ref.get(order)).toEqual(idsOf("quick"))
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(recovering)
      yield* settle
      expect(yield* Ref.get(order)).toEqual([...idsOf("quick"), ...idsOf("slow")])
    }).pipe(Effect.provide(settingsTest())))

  it.scoped("does not wait for ever for a run that nobody recovers", () =>
    Effect.gen(function*() {
      const store = yield* sharedStore
      const killed = yield* processOver(store)
      yield* Effect.fork(killed.runs.run(spec("upsert", "key", "resume"), Effect.never))
      yield* settle
      const { runs } = yield* processOver(store)
      const next = yield* Effect.fork(runs.run(spec("upsert"), Effect.succeed("begun")))
      yield* TestClock.adjust("5 seconds")
      expect(yield* Fiber.join(next)).toBe("begun")
    }).pipe(Effect.provide(settingsTest())))

  it.scoped("does not go on with what another version of its workflow left", () =>
    Effect.gen(function*() {
      const store = yield* sharedStore
      yield* Effect.provide(
        Effect.flatMap(RunHistory, (store) =>
          store.insert({
            run: {
              id: "left",
              kind: "upsert",
              subject: {},
              state: "running",
              requestedBy: { door: "http", name: "ann" },
              requestedAt: "2026-01-02T03:04:05.678Z",
              startedAt: "2026-01-02T03:04:05.678Z",
              endedAt: null,
              steps: [],
              result: null,
              error: null
            },
            request: {},
            workflow: "upsert/v0",
            queue: "",
            idempotency: Option.none(),
            attempt: 1
          })),
        store
      )
      const { runs } = yield* processOver(store)
      yield* runs.recover((_, goOn) => goOn(spec("upsert", "key", "resume"), Effect.die("gone on with")))
      expect(yield* runs.get("left")).toMatchObject({ state: "interrupted" })
    }).pipe(Effect.provide(settingsTest())))

  it.scoped("records as interrupted what nobody goes on with", () =>
    Effect.gen(function*() {
      const store = yield* sharedStore
      const killed = yield* processOver(store)
      yield* Effect.fork(killed.runs.run(spec("build"), executeStep("build", Effect.never, () => "")))
      yield* settle
      yield* Effect.fork(killed.runs.run(spec("build"), Effect.void))
      yield* settle
      yield* TestClock.adjust("1 second")
      const next = yield* processOver(store)
      yield* next.runs.recover(() => Effect.succeed(false))
      const { runs: [waiting, run] } = yield* next.runs.list({})
      expect(waiting).toMatchObject({ state: "interrupted", startedAt: null })
      expect(waiting).not.toHaveProperty("waitsFor")
      expect(run).toMatchObject({
        state: "interrupted",
        steps: [{ step: "build", status: "error", detail: "interrupted", endedAt: expect.any(String) }],
        error: {
          error: expect.stringContaining("may still be running, and the archive may be incomplete: build again")
        }
      })
    }).pipe(Effect.provide(settingsTest())))
})
