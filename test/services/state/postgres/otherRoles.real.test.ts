import { describe, expect, layer } from "@effect/vitest"
import { Context, Deferred, Duration, Effect, Exit, Layer, Option, Redacted, Schedule, Scope, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { Client } from "pg"
import { instanceLocks, openPgLink } from "../../../../src/services/state/postgres/lease.ts"
import { makePgRunStore } from "../../../../src/services/state/postgres/store.ts"
import { patience } from "../../../fixtures/patience.ts"
import { realPostgres, startPostgres } from "../../../fixtures/runs/postgres.ts"
import { stored, storedRun as run } from "../../../fixtures/runs/storedRuns.ts"

class Postgres
  extends Context.Tag("test/Postgres")<Postgres, Effect.Effect.Success<ReturnType<typeof startPostgres>>>()
{}
const PostgresLive = Layer.scoped(Postgres, startPostgres())

const process = (id: string) => ({ id, description: `ann@${id}`, takeOver: Duration.seconds(5) })
const processOn = (address: string, id: string = randomUUID()) => makePgRunStore(Redacted.make(address), process(id))
const fresh = Effect.flatMap(Postgres, ({ database }) => database())
const soon = Schedule.spaced("50 millis").pipe(Schedule.upTo("20 seconds"))
const eventually = <A, E>(effect: Effect.Effect<A, E>, holds: (value: A) => boolean) =>
  effect.pipe(Effect.filterOrFail(holds, () => new Error("never")), Effect.retry(soon))
/** A connection of the test's own. */
const connect = (address: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client({ connectionString: address })
      client.on("error", () => undefined)
      await client.connect()
      return client
    }),
    (client) => Effect.promise(() => client.end())
  )
const roleOf = (address: string) => new URL(address).username

describe.skipIf(!realPostgres.available)(realPostgres.title("other roles of a database"), () => {
  layer(PostgresLive, { timeout: "60 seconds", excludeTestServices: true })((test) => {
    const foreign: ReadonlyArray<readonly [name: string, what: string, sql: (own: string, guest: string) => string]> = [
      ["made the schema first", "the schema berth in it", (_, guest) => `CREATE SCHEMA berth AUTHORIZATION ${guest}`],
      [
        "made the schema and let everybody use it",
        "the schema berth in it",
        (_, guest) => `CREATE SCHEMA berth AUTHORIZATION ${guest}; GRANT ALL ON SCHEMA berth TO PUBLIC`
      ],
      [
        "owns a table in it",
        "the table migrations in its schema berth",
        (own, guest) =>
          `CREATE SCHEMA berth AUTHORIZATION ${own}; CREATE TABLE berth.migrations (migration_id integer);
           ALTER TABLE berth.migrations OWNER TO ${guest}`
      ],
      [
        "owns a function in it",
        "the function run_changed in its schema berth",
        (own, guest) =>
          `CREATE SCHEMA berth AUTHORIZATION ${own};
           CREATE FUNCTION berth.run_changed() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
           ALTER FUNCTION berth.run_changed() OWNER TO ${guest}`
      ]
    ]
    for (const [name, what, sql] of foreign) {
      test.scoped(`are refused as its owner: one that ${name}`, () =>
        Effect.gen(function*() {
          const { administer, guest, query } = yield* Postgres
          const address = yield* fresh
          const other = roleOf(yield* guest(address))
          yield* administer(address, sql(roleOf(address), other))
          const store = yield* processOn(address)
          const error = yield* Effect.flip(store.history.list({}))
          expect(error).toMatchObject({ status: 503 })
          expect(error.message).toContain(`${what} belongs to the role ${other}, but state.url connects as berth`)
          expect(error.message).toContain("DROP SCHEMA berth CASCADE")
          expect(yield* query(address, "SELECT count(*) FROM pg_tables WHERE tablename = 'runs'")).toBe("0")
          // Once that is mended it goes on by itself.
          yield* administer(address, "DROP SCHEMA berth CASCADE")
          expect(yield* eventually(Effect.option(store.history.list({})), Option.isSome)).toMatchObject(
            Option.some({ runs: [] })
          )
        }))
    }

    test.scoped("do not matter as owners of the database, where the schema was made for the services", () =>
      Effect.gen(function*() {
        const { administer } = yield* Postgres
        const address = yield* fresh
        const name = new URL(address).pathname.slice(1)
        yield* administer(
          address,
          `ALTER DATABASE ${name} OWNER TO postgres; CREATE SCHEMA berth AUTHORIZATION berth;
           REVOKE CONNECT ON DATABASE ${name} FROM PUBLIC; GRANT CONNECT ON DATABASE ${name} TO berth`
        )
        const store = yield* processOn(address)
        yield* store.history.insert(stored(run(1)))
        expect((yield* store.history.list({})).runs).toHaveLength(1)
      }))

    test.scoped(
      "cannot keep processes from starting, or runs from being taken over, by holding locks",
      () =>
        Effect.gen(function*() {
          const { guest, query } = yield* Postgres
          const address = yield* fresh
          const mallory = yield* connect(yield* guest(address))
          const sql = (text: string) => Effect.promise(() => mallory.query(text))
          yield* sql(`SELECT pg_advisory_lock(${instanceLocks}, number) FROM generate_series(0, 3000) AS number`)
          const scope = yield* Scope.make()
          const one = yield* Scope.extend(processOn(address, "one"), scope)
          const other = yield* processOn(address)
          const { id } = run(1)
          yield* one.history.insert(stored(run(1, { state: "running" })))
          yield* other.history.ready
          // Every role can see which lock is held, and takes it as soon as the process is gone.
          const { rows: [seen] } = yield* sql(
            `SELECT classid, objid FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()
             AND objid = ${yield* query(address, "SELECT number FROM instances WHERE id = 'one'")}`
          )
          const waiting = yield* Effect.fork(sql(`SELECT pg_advisory_lock(${seen.classid}, ${seen.objid})`))
          yield* Scope.close(scope, Exit.void)
          yield* waiting.await
          yield* query(address, "UPDATE instances SET expires_at = now() - interval '1 hour' WHERE id = 'one'")
          expect(yield* eventually(other.ownership.takeOver({ id, attempt: 1 }), Option.isSome)).toEqual(Option.some(2))
        }),
      60_000 * patience
    )

    test.scoped("can neither hear nor send what processes tell each other", () =>
      Effect.gen(function*() {
        const { guest } = yield* Postgres
        const address = yield* fresh
        const store = yield* processOn(address)
        yield* store.history.ready
        const mallory = yield* connect(yield* guest(address))
        const attempts = [
          "SELECT name FROM berth.notify_channel",
          "SELECT number FROM berth.instances",
          "DO $$ BEGIN LOCK TABLE berth.migrations IN ACCESS SHARE MODE; END $$"
        ]
        for (const text of attempts) {
          const refused = yield* Effect.flip(Effect.tryPromise(() => mallory.query(text)))
          expect(String(refused.error)).toContain("permission denied")
        }
        const { rows } = yield* Effect.promise(() =>
          mallory.query("SELECT prosrc, query FROM pg_proc, pg_stat_activity WHERE proname LIKE 'run_%'")
        )
        expect(JSON.stringify(rows)).not.toMatch(/berth_[0-9a-f]{32}/)
      }))

    test.scoped("do not delay a lease by whatever occupies the connections of queries", () =>
      Effect.gen(function*() {
        const address = yield* fresh
        const link = yield* openPgLink(Redacted.make(address), process("one"), () => Effect.void)
        const { client: sql } = link
        yield* Effect.forkScoped(
          Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8], () => sql`SELECT pg_sleep(60)`, { concurrency: "unbounded" })
        )
        yield* Effect.sleep("500 millis")
        yield* Effect.timeout(link.renew, "10 seconds")
      }))

    test.scoped(
      "do not cost a process its runs when the connection that listens is lost",
      () =>
        Effect.gen(function*() {
          const { administer } = yield* Postgres
          const address = yield* fresh
          const one = yield* processOn(address)
          const other = yield* processOn(address)
          yield* Effect.all([one.history.ready, other.history.ready])
          const lost = yield* Deferred.make<void>()
          const hinted = yield* Deferred.make<void>()
          yield* Effect.forkScoped(Stream.runForEach(one.ownership.changes, (change) =>
            change.what === "lost"
              ? Deferred.succeed(lost, undefined)
              : "id" in change
              ? Deferred.succeed(hinted, undefined)
              : Effect.void))
          const listeners = "FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'"
          const count = (wanted: string) =>
            eventually(administer(address, `SELECT count(*) ${listeners}`), (found) => found === wanted)
          yield* count("2")
          yield* administer(address, `SELECT pg_terminate_backend(pid) ${listeners}`)
          yield* other.history.insert(stored(run(1)))
          yield* count("2")
          yield* other.history.insert(stored(run(2)))
          yield* Effect.timeout(Deferred.await(hinted), "10 seconds")
          expect(yield* Deferred.isDone(lost)).toBe(false)
        }),
      60_000 * patience
    )
  })
})
