import { describe, expect, layer } from "@effect/vitest"
import { Context, Duration, Effect, Exit, Layer, Option, Queue, Redacted, Schedule, Scope, Stream } from "effect"
import { randomUUID } from "node:crypto"
import type { Run } from "../../../../src/schema/runs.ts"
import type { RunStore } from "../../../../src/services/runs/store.ts"
import { makePgRunStore } from "../../../../src/services/state/postgres/store.ts"
import { patience } from "../../../fixtures/patience.ts"
import { noticeTo, outboxBehaves } from "../../../fixtures/runs/outbox.ts"
import { realPostgres, startPostgres } from "../../../fixtures/runs/postgres.ts"
import { behaves, stored, storedRun as run } from "../../../fixtures/runs/storedRuns.ts"

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

    test.scoped("keep notifications, of which each is sent by one process", () =>
      Effect.gen(function*() {
        const address = yield* fresh
        yield* Effect.flatMap(processOn(address), outboxBehaves)
        const stores = yield* Effect.forEach([1, 2, 3, 4], () => processOn(address))
        const [first] = stores
        yield* first?.history.insert(stored(run(21, { state: "running" }))) ?? Effect.void
        const notices = Array.from({ length: 40 }, (_, index) => noticeTo("team", `n${index}`))
        yield* first?.history.save(run(21, { state: "failed" }), 1, notices) ?? Effect.void
        const claimed = yield* Effect.forEach(
          [...stores, ...stores],
          ({ outbox }) => outbox.claim(5, Duration.minutes(5)),
          { concurrency: "unbounded" }
        )
        // A claim that meets another one may take fewer than there are.
        const rest = yield* first?.outbox.claim(40, Duration.minutes(5)) ?? Effect.succeed([])
        const ids = [...claimed.flat(), ...rest].map(({ id }) => id)
        expect([ids.length, new Set(ids).size]).toEqual([40, 40])
      }))

    test.scoped("are shared by processes that start at once, of which one makes the tables", () =>
      Effect.gen(function*() {
        const address = yield* fresh
        const stores = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => processOn(address))
        yield* Effect.forEach(stores, (store) => store.history.ready, { concurrency: "unbounded" })
        const { query } = yield* Postgres
        expect(yield* query(address, "SELECT name FROM migrations ORDER BY migration_id")).toBe(
          "runs\nchannel\nnotices"
        )
        expect(yield* query(address, "SELECT count(*) FROM instances")).toBe("6")
      }))

    test.scoped("are found by whatever somebody asks for, or not", () =>
      Effect.gen(function*() {
        const store = yield* Effect.flatMap(fresh, processOn)
        yield* store.history.insert(stored(run(1)))
        for (const odd of ["\0", "a\0b", "\ud800", "%", "'", "x".repeat(10_000)]) {
          expect((yield* store.history.list({ appName: odd, before: odd })).runs).toEqual([])
          expect(yield* store.history.find(odd)).toEqual(Option.none())
          expect(yield* store.history.events(odd, 0)).toEqual([])
        }
        expect((yield* store.history.list({})).runs).toHaveLength(1)
      }))

    test.scoped("start one run for an idempotency key, whichever process is asked", () =>
      Effect.gen(function*() {
        const address = yield* fresh
        const stores = yield* Effect.forEach([1, 2, 3], () => processOn(address))
        const outcomes = yield* Effect.forEach(
          Array.from({ length: 12 }, (_, index) => index),
          (index) => (stores[index % 3] ?? stores[0])?.history.insert(stored(run(index), "key")) ?? Effect.succeedNone,
          { concurrency: "unbounded" }
        )
        expect(outcomes.filter(Option.isNone)).toHaveLength(1)
        const { runs } = yield* (stores[0] ?? (yield* Effect.dieMessage("no store"))).history.list({})
        expect(runs).toHaveLength(1)
        for (const used of outcomes.flatMap(Option.toArray)) {
          expect(used).toEqual({ run: runs[0], digest: "d" })
        }
        // A day later the key stands for another request.
        const later = run(20, { requestedAt: new Date(Date.now() + 24 * 3_600_000 + 60_000).toISOString() })
        expect(yield* stores[1]?.history.insert(stored(later, "key")) ?? Effect.succeedNone).toEqual(Option.none())
      }))

    test.scoped("begin in the order of their requests, one of a queue at a time, whichever process has them", () =>
      Effect.gen(function*() {
        const address = yield* fresh
        const one = yield* processOn(address)
        const other = yield* processOn(address)
        // The ids of processes whose clocks differ are in another order than the requests.
        const order = [[one, 9], [other, 2], [one, 5], [other, 7]] as const
        yield* Effect.forEach(order, ([store, number]) => store.history.insert(waiting(number, "queue")))
        yield* one.history.insert(waiting(1, "another"))
        const begun = new Set<string>()
        const mine = (store: typeof one) =>
          [...order, [one, 1] as const].flatMap(([whose, number]) =>
            whose === store && !begun.has(run(number).id) ? [run(number).id] : []
          )
        const claim = Effect.suspend(() =>
          Effect.all([one.ownership.claimTurns(mine(one)), other.ownership.claimTurns(mine(other))], { concurrency: 2 })
        ).pipe(
          Effect.map((claimed) => claimed.flat().sort()),
          Effect.tap((claimed) => Effect.sync(() => claimed.forEach((id) => begun.add(id))))
        )
        expect(yield* claim).toEqual([run(1).id, run(9).id])
        expect(yield* claim).toEqual([])
        // An answer that did not arrive is given again.
        expect(yield* one.ownership.claimTurns([run(9).id, run(5).id])).toEqual([run(9).id])
        for (const [index, [store, number]] of order.entries()) {
          yield* store.history.save(run(number, { state: "failed" }), 1)
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
          yield* one.history.insert({ ...waiting(1, "queue"), run: run(1, { state: "running" }) })
          const hold = { id: run(1).id, attempt: 1 }
          yield* one.ownership.beginStep(hold, "sync")
          expect(idsOf(yield* other.ownership.unowned([]))).toEqual([])
          expect(yield* other.ownership.takeOver(hold)).toEqual(Option.none())
          // Its time has run out, but it is connected still: it may be frozen, and go on.
          const frozen = eventually(
            Effect.zipRight(
              query(address, "UPDATE instances SET expires_at = now() - interval '1 hour' WHERE id = 'one'"),
              Effect.zip(other.ownership.unowned([]), other.ownership.takeOver(hold))
            ),
            ([left]) => left.length > 0
          )
          const [left, taken] = yield* frozen
          expect([idsOf(left), taken]).toEqual([[hold.id], Option.none()])
          yield* Scope.close(scope, Exit.void)
          expect(yield* eventually(other.ownership.takeOver(hold), Option.isSome)).toEqual(Option.some(2))
          const again = yield* processOn(address, "one")
          const late = yield* Effect.forEach([
            again.history.save(run(1), 1),
            again.history.save(run(1), 2),
            again.ownership.beginStep(hold, "env"),
            again.ownership.completeStep(hold, "sync", {}),
            again.history.appendEvents(hold, [{ id: 1, event: "output", data: "{}" }])
          ], Effect.flip)
          expect(late.map(({ _tag }) => _tag)).toEqual(Array.from({ length: 5 }, () => "RunTakenOver"))
          yield* other.ownership.completeStep({ ...hold, attempt: 2 }, "sync", { uuid: "u" })
          expect(yield* other.ownership.stepResults(hold.id)).toEqual([{
            step: "sync",
            result: Option.some({ uuid: "u" })
          }])
        }),
      60_000 * patience
    )

    test.scoped("are taken over at once from a process that has ended in order", () =>
      Effect.gen(function*() {
        const address = yield* fresh
        const one = yield* processOn(address)
        const other = yield* processOn(address)
        yield* one.history.insert(waiting(1, "queue"))
        yield* one.ownership.release
        expect(yield* other.ownership.takeOver({ id: run(1).id, attempt: 1 })).toEqual(Option.some(2))
      }))

    test.scoped("tell every process what changes", () =>
      Effect.gen(function*() {
        const address = yield* fresh
        const one = yield* processOn(address)
        const other = yield* processOn(address)
        yield* Effect.all([one.history.ready, other.history.ready])
        const { id } = run(1)
        const hints = yield* Queue.unbounded<string>()
        yield* Effect.forkScoped(Stream.runForEach(other.ownership.changes, (change) =>
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
        yield* one.history.insert(waiting(1, "queue"))
        yield* heard("state")
        yield* one.history.save(run(1, { state: "queued", subject: {} }), 1)
        yield* heard("data")
        yield* one.history.appendEvents({ id, attempt: 1 }, [{ id: 1, event: "output", data: "{}" }])
        yield* heard("data")
        yield* other.ownership.requestCancel(id)
        yield* heard("cancel")
        expect(yield* one.ownership.peerActions([{ id, attempt: 1 }, { id: "other", attempt: 1 }])).toEqual({
          cancelled: [id],
          takenOver: []
        })
        expect(yield* other.ownership.peerActions([{ id, attempt: 1 }])).toMatchObject({ takenOver: [id] })
        expect(yield* one.ownership.peerActions([{ id, attempt: 2 }])).toMatchObject({ takenOver: [id] })
        expect(yield* one.ownership.claimTurns([id])).toEqual([])
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
            const error = yield* Effect.flip(store.history.list({}))
            expect(error).toMatchObject({ status: 503, message: expect.stringContaining(reason) })
            expect(error.message).not.toContain(password)
            expect(error.message).toContain("PostgreSQL at ")
          }
        }),
      60_000 * patience
    )

    test.scoped("can be used by themselves when the database is back", () =>
      Effect.gen(function*() {
        const address = yield* fresh
        const postgres = yield* Postgres
        const store: RunStore = yield* processOn(address)
        yield* store.history.insert(stored(run(1)))
        yield* postgres.stop
        const error = yield* eventually(Effect.either(store.history.list({})), (outcome) => outcome._tag === "Left")
        expect(error).toMatchObject({ left: { status: 503 } })
        yield* postgres.start
        const page = yield* Effect.retry(store.history.list({}), soon)
        expect(page.runs).toHaveLength(1)
        const { bytes, store: name } = yield* store.history.check
        expect(bytes).toBeGreaterThan(10_000)
        expect(name).toBe(`PostgreSQL at 127.0.0.1:${postgres.port}/${new URL(address).pathname.slice(1)}`)
      }), 60_000 * patience)
  })
})
