import { describe, expect, layer } from "@effect/vitest"
import { Context, Duration, Effect, Exit, Layer, Option, Queue, Redacted, Schedule, Scope, Stream } from "effect"
import { randomUUID } from "node:crypto"
import type { Run } from "../../../../src/schema/Run.ts"
import type { RunStore } from "../../../../src/services/runs/RunStore.ts"
import { makePgRunStore } from "../../../../src/services/state/postgres/pgRunStore.ts"
import { realPostgres, startPostgres } from "../../../fixtures/postgres.ts"
import { behaves, stored, storedRun as run } from "../../../fixtures/storedRuns.ts"

class Postgres
  extends Context.Tag("test/Postgres")<Postgres, Effect.Effect.Success<ReturnType<typeof startPostgres>>>()
{}
const PostgresLive = Layer.scoped(Postgres, startPostgres())

const takeOver = Duration.seconds(5)
/** A process that shares the runs of a database, until the scope closes. */
const processOn = (address: string, id: string = randomUUID()) =>
  makePgRunStore(Redacted.make(address), { id, description: `ann@${id}`, takeOver })
const fresh = Effect.flatMap(Postgres, ({ database }) => database())
const waiting = (number: number, queue: string) => ({ ...stored(run(number, { state: "queued" })), queue })
const idsOf = (runs: ReadonlyArray<{ readonly run: Run }>) => runs.map((each) => each.run.id)
const soon = Schedule.spaced("50 millis").pipe(Schedule.upTo("20 seconds"))
const eventually = <A, E>(effect: Effect.Effect<A, E>, holds: (value: A) => boolean) =>
  effect.pipe(Effect.filterOrFail(holds, () => new Error("never")), Effect.retry(soon))
/** Waits until so many processes listen. */
const listening = (address: string, count: number) =>
  Effect.flatMap(Postgres, ({ query }) =>
    eventually(
      query(
        address,
        `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'`
      ),
      (found) => found === String(count)
    ))

describe.skipIf(!realPostgres.available)(realPostgres.title("runs in a PostgreSQL"), () => {
  layer(PostgresLive, { timeout: "60 seconds", excludeTestServices: true })((test) => {
    test.scoped("are kept, found and purged", () => Effect.flatMap(Effect.flatMap(fresh, processOn), behaves))

    test.scoped("are shared by processes that start at once, of which one makes the tables", () =>
      Effect.gen(function*() {
        const address = yield* fresh
        const stores = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => processOn(address))
        yield* Effect.forEach(stores, (store) => store.ready, { concurrency: "unbounded" })
        const { query } = yield* Postgres
        expect(yield* query(address, "SELECT name FROM migrations ORDER BY migration_id")).toBe("runs\nchannel")
        expect(yield* query(address, "SELECT count(*) FROM instances")).toBe("6")
      }))

    test.scoped("are found by whatever somebody asks for, or not", () =>
      Effect.gen(function*() {
        const store = yield* Effect.flatMap(fresh, processOn)
        yield* store.insert(stored(run(1)))
        for (const odd of ["\0", "a\0b", "\ud800", "%", "'", "x".repeat(10_000)]) {
          expect((yield* store.list({ appName: odd, before: odd })).runs).toEqual([])
          expect(yield* store.find(odd)).toEqual(Option.none())
          expect(yield* store.events(odd, 0)).toEqual([])
        }
        expect((yield* store.list({})).runs).toHaveLength(1)
      }))

    test.scoped("start one run for an idempotency key, whichever process is asked", () =>
      Effect.gen(function*() {
        const address = yield* fresh
        const stores = yield* Effect.forEach([1, 2, 3], () => processOn(address))
        const outcomes = yield* Effect.forEach(
          Array.from({ length: 12 }, (_, index) => index),
          (index) => (stores[index % 3] ?? stores[0])?.insert(stored(run(index), "key")) ?? Effect.succeedNone,
          { concurrency: "unbounded" }
        )
        expect(outcomes.filter(Option.isNone)).toHaveLength(1)
        const { runs } = yield* (stores[0] ?? (yield* Effect.dieMessage("no store"))).list({})
        expect(runs).toHaveLength(1)
        for (const used of outcomes.flatMap(Option.toArray)) {
          expect(used).toEqual({ run: runs[0], digest: "d" })
        }
        // A day later the key stands for another request.
        const later = run(20, { requestedAt: new Date(Date.now() + 24 * 3_600_000 + 60_000).toISOString() })
        expect(yield* stores[1]?.insert(stored(later, "key")) ?? Effect.succeedNone).toEqual(Option.none())
      }))

    test.scoped("begin in the order of their requests, one of a queue at a time, whichever process has them", () =>
      Effect.gen(function*() {
        const address = yield* fresh
        const one = yield* processOn(address)
        const other = yield* processOn(address)
        // The ids of processes whose clocks differ are in another order than the requests.
        const order = [[one, 9], [other, 2], [one, 5], [other, 7]] as const
        yield* Effect.forEach(order, ([store, number]) => store.insert(waiting(number, "queue")))
        yield* one.insert(waiting(1, "another"))
        const begun = new Set<string>()
        const mine = (store: typeof one) =>
          [...order, [one, 1] as const].flatMap(([whose, number]) =>
            whose === store && !begun.has(run(number).id) ? [run(number).id] : []
          )
        const claim = Effect.suspend(() =>
          Effect.all([one.claim(mine(one)), other.claim(mine(other))], { concurrency: 2 })
        ).pipe(
          Effect.map((claimed) => claimed.flat().sort()),
          Effect.tap((claimed) => Effect.sync(() => claimed.forEach((id) => begun.add(id))))
        )
        expect(yield* claim).toEqual([run(1).id, run(9).id])
        expect(yield* claim).toEqual([])
        // An answer that did not arrive is given again.
        expect(yield* one.claim([run(9).id, run(5).id])).toEqual([run(9).id])
        for (const [index, [store, number]] of order.entries()) {
          yield* store.save(run(number, { state: "failed" }), 1)
          const next = order[index + 1]
          expect(yield* claim).toEqual(next === undefined ? [] : [run(next[1]).id])
        }
      }))

    test.scoped(
      "are taken over when their process is gone, and then nothing is written of them before",
      () =>
        Effect.gen(function*() {
          const address = yield* fresh
          const { query } = yield* Postgres
          const scope = yield* Scope.make()
          const one = yield* Scope.extend(processOn(address, "one"), scope)
          const other = yield* processOn(address, "other")
          yield* one.insert({ ...waiting(1, "queue"), run: run(1, { state: "running" }) })
          const hold = { id: run(1).id, attempt: 1 }
          yield* one.beginStep(hold, "sync")
          expect(idsOf(yield* other.left([]))).toEqual([])
          expect(yield* other.take(hold)).toEqual(Option.none())
          // Its time has run out, but it is connected still: it may be frozen, and go on.
          const frozen = eventually(
            Effect.zipRight(
              query(address, "UPDATE instances SET expires_at = now() - interval '1 hour' WHERE id = 'one'"),
              Effect.zip(other.left([]), other.take(hold))
            ),
            ([left]) => left.length > 0
          )
          const [left, taken] = yield* frozen
          expect([idsOf(left), taken]).toEqual([[hold.id], Option.none()])
          yield* Scope.close(scope, Exit.void)
          expect(yield* eventually(other.take(hold), Option.isSome)).toEqual(Option.some(2))
          const again = yield* processOn(address, "one")
          const late = yield* Effect.forEach([
            again.save(run(1), 1),
            again.save(run(1), 2),
            again.beginStep(hold, "env"),
            again.keepStep(hold, "sync", {}),
            again.appendEvents(hold, [{ id: 1, event: "output", data: "{}" }])
          ], Effect.flip)
          expect(late.map(({ _tag }) => _tag)).toEqual(Array.from({ length: 5 }, () => "RunTaken"))
          yield* other.keepStep({ ...hold, attempt: 2 }, "sync", { uuid: "u" })
          expect(yield* other.steps(hold.id)).toEqual([{ step: "sync", result: Option.some({ uuid: "u" }) }])
        }),
      60_000
    )

    test.scoped("are taken over at once from a process that has ended in order", () =>
      Effect.gen(function*() {
        const address = yield* fresh
        const one = yield* processOn(address)
        const other = yield* processOn(address)
        yield* one.insert(waiting(1, "queue"))
        yield* one.release
        expect(yield* other.take({ id: run(1).id, attempt: 1 })).toEqual(Option.some(2))
      }))

    test.scoped("tell every process what changes", () =>
      Effect.gen(function*() {
        const address = yield* fresh
        const one = yield* processOn(address)
        const other = yield* processOn(address)
        yield* Effect.all([one.ready, other.ready])
        const { id } = run(1)
        const hints = yield* Queue.unbounded<string>()
        yield* Effect.forkScoped(Stream.runForEach(other.changes, (change) =>
          "id" in change ? Queue.offer(hints, `${change.what} ${change.id}`) : Effect.void))
        yield* listening(address, 2)
        // Of one kind and run, several within a moment are one.
        const heard = (what: string) =>
          Queue.take(hints).pipe(
            Effect.repeat({
              until: (hint) =>
                hint === `${what} ${id}`
            }),
            Effect.timeout("10 seconds")
          )
        yield* one.insert(waiting(1, "queue"))
        yield* heard("state")
        yield* one.save(run(1, { state: "queued", subject: {} }), 1)
        yield* heard("data")
        yield* one.appendEvents({ id, attempt: 1 }, [{ id: 1, event: "output", data: "{}" }])
        yield* heard("data")
        yield* other.askToCancel(id)
        yield* heard("cancel")
        expect(yield* one.ordersFor([{ id, attempt: 1 }, { id: "other", attempt: 1 }])).toEqual({
          cancelled: [id],
          taken: []
        })
        expect(yield* other.ordersFor([{ id, attempt: 1 }])).toMatchObject({ taken: [id] })
        expect(yield* one.ordersFor([{ id, attempt: 2 }])).toMatchObject({ taken: [id] })
        expect(yield* one.claim([id])).toEqual([])
      }))

    test.scoped(
      "cannot be used, and say why without a password, when they are not there",
      () =>
        Effect.gen(function*() {
          const { password, port } = yield* Postgres
          const reasons = [
            [`postgres://berth:${password}@127.0.0.1:1/berth`, "does not take connections"],
            [`postgres://berth:${password}x@127.0.0.1:${port}/postgres`, "refuses the user or the password"],
            [`postgres://berth:${password}@127.0.0.1:${port}/none`, "no database of that name"],
            [`postgres://berth:${password}@no-such-host.invalid/berth`, "host name is not known"]
          ] as const
          for (const [address, reason] of reasons) {
            const store = yield* processOn(address)
            const error = yield* Effect.flip(store.list({}))
            expect(error).toMatchObject({ status: 503, message: expect.stringContaining(reason) })
            expect(error.message).not.toContain(password)
            expect(error.message).toContain("PostgreSQL at ")
          }
        }),
      60_000
    )

    test.scoped("can be used by themselves when the database is back", () =>
      Effect.gen(function*() {
        const address = yield* fresh
        const postgres = yield* Postgres
        const store: RunStore["Type"] = yield* processOn(address)
        yield* store.insert(stored(run(1)))
        yield* postgres.stop
        const error = yield* eventually(Effect.either(store.list({})), (outcome) => outcome._tag === "Left")
        expect(error).toMatchObject({ left: { status: 503 } })
        yield* postgres.start
        const page = yield* Effect.retry(store.list({}), soon)
        expect(page.runs).toHaveLength(1)
        const { bytes, store: name } = yield* store.check
        expect(bytes).toBeGreaterThan(10_000)
        expect(name).toBe(`PostgreSQL at 127.0.0.1:${postgres.port}/${new URL(address).pathname.slice(1)}`)
      }), 60_000)
  })
})
