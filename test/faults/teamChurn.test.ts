import { describe, expect, layer } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Schedule, type Scope } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Client } from "pg"
import { HttpFault } from "../../src/sandbox/httpDouble.ts"
import { patience } from "../fixtures/patience.ts"
import { realPostgres, startPostgres } from "../fixtures/runs/postgres.ts"
import { begin, hasBegun, isEnded, makeTeam, type Member, until } from "../fixtures/runs/team.ts"
import { plant } from "../layers/temporary.ts"

class Postgres
  extends Context.Tag("test/Postgres")<Postgres, Effect.Effect.Success<ReturnType<typeof startPostgres>>>()
{}
const PostgresLive = Layer.scoped(Postgres, startPostgres())

// Each time that a step begins or ends, or a run is taken over.
const record = `CREATE TABLE record (run_id text, event text, at timestamptz DEFAULT clock_timestamp());
  CREATE FUNCTION record_step() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO berth.record VALUES (NEW.run_id, CASE WHEN NEW.result IS NULL THEN 'begin ' ELSE 'end ' END || NEW.step);
    RETURN NULL; END $$;
  CREATE FUNCTION record_owner() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO berth.record VALUES (NEW.id, 'taken');
    RETURN NULL; END $$;
  CREATE TRIGGER record AFTER INSERT OR UPDATE ON run_steps FOR EACH ROW EXECUTE FUNCTION record_step();
  CREATE TRIGGER record AFTER UPDATE ON runs FOR EACH ROW WHEN (NEW.attempt <> OLD.attempt)
    EXECUTE FUNCTION record_owner()`

/** A team with one service, and projects of as many applications; each call to the platform takes a while. */
const stage = (count: number, millis: number, takeOver: number) =>
  Effect.gen(function*() {
    const { database, query } = yield* Postgres
    const address = yield* database()
    const team = yield* makeTeam(address, takeOver)
    const { gitHost, platform, projects } = team.world
    for (const double of [platform, gitHost]) {
      yield* double.fail({}, HttpFault.Delay({ duration: `${millis} millis` }), { times: 10_000 })
    }
    const hello = JSON.parse(readFileSync(join(projects, "hello", "platform.json"), "utf8"))
    const compose = readFileSync(join(projects, "hello", "compose.yml"), "utf8")
    const names = Array.from({ length: count }, (_, index) => `app${index}`)
    for (const [index, name] of names.entries()) {
      // Without a route, which would be most of the work.
      const { domain: _, ...entry } = { ...hello, name, port: 3_000 + index }
      yield* plant(join(projects, name), {
        "platform.json": JSON.stringify(entry),
        "compose.yml": compose,
        ".env": `HOST_PORT=${3_000 + index}\n`
      })
    }
    const first = yield* team.join()
    yield* first.request("GET", "/api/runs")
    yield* query(address, record)
    const number = (sql: string) => Effect.map(query(address, sql), Number)
    return {
      address,
      first,
      join: team.join(),
      start: (member: Member, index: number) =>
        begin(member, "/api/platform/upsert", { projectPath: join(projects, names[index] ?? "") }),
      /** Number of steps that were started more than once. */
      cut: number(
        `SELECT count(*) - count(DISTINCT (run_id, event)) FROM record WHERE event LIKE 'begin %'`
      ),
      taken: number("SELECT count(*) FROM record WHERE event = 'taken'"),
      /** The longest time in seconds in which no step of any run began or ended. */
      silence: number(
        `SELECT extract(epoch FROM max(pause)) FROM (
           SELECT at - lag(at) OVER (ORDER BY at) AS pause FROM record WHERE event <> 'taken'
         ) AS pauses`
      ),
      query: (sql: string) => query(address, sql)
    }
  })

const statesOf = (member: Member, ids: ReadonlyArray<string>) =>
  Effect.forEach(ids, (id) => Effect.map(until(member, id, isEnded), (run) => run["state"]), {
    concurrency: "unbounded"
  })
const succeeded = (ids: ReadonlyArray<string>) => ids.map(() => "succeeded")
const indices = (count: number) => Array.from({ length: count }, (_, index) => index)

/** Sends notifications as fast as PostgreSQL takes them, until the scope closes. */
const flood = (address: string, channel: string): Effect.Effect<unknown, never, Scope.Scope> =>
  Effect.gen(function*() {
    const client = yield* Effect.acquireRelease(
      Effect.promise(async () => {
        const client = new Client({ connectionString: address })
        client.on("error", () => undefined)
        await client.connect()
        return client
      }),
      (client) => Effect.promise(() => client.end())
    )
    const send = Effect.promise(() =>
      client.query(
        `SELECT pg_notify('${channel}', 'state ' || n || repeat('x', n % 4000)) FROM generate_series(1, 20000) AS n`
      )
    )
    return yield* Effect.forkScoped(Effect.interruptible(Effect.forever(send)))
  })

describe.skipIf(!realPostgres.available)(realPostgres.title("a team whose services come and go"), () => {
  layer(PostgresLive, { timeout: "60 seconds", excludeTestServices: true })((test) => {
    test.scoped("cuts no step when a service joins", () =>
      Effect.gen(function*() {
        const { cut, first, join, start, taken } = yield* stage(8, 250, 10)
        const ids = yield* Effect.forEach(indices(8), (index) => start(first, index))
        yield* until(first, ids[0] ?? "", hasBegun("sync"))
        const second = yield* join
        expect(yield* statesOf(second, ids)).toEqual(succeeded(ids))
        expect([yield* cut, yield* taken]).toEqual([0, 0])
      }))

    test.scoped("cuts no step when one service after the other is restarted", () =>
      Effect.gen(function*() {
        const { cut, first, join, start, taken } = yield* stage(8, 400, 10)
        const second = yield* join
        const ids = yield* Effect.forEach(indices(8), (index) => start(index % 2 === 0 ? first : second, index))
        yield* until(first, ids[0] ?? "", hasBegun("sync"))
        let last = second
        for (const member of [first, second]) {
          yield* member.kill("SIGTERM")
          expect(yield* member.ended).toMatchObject({ signal: null })
          last = yield* join
        }
        expect(yield* statesOf(last, ids)).toEqual(succeeded(ids))
        expect(yield* cut).toBe(0)
        expect(yield* taken).toBeGreaterThan(0)
      }))

    test.scoped("is never silent for long while eight services are restarted", () =>
      Effect.gen(function*() {
        const { first, join, silence, start } = yield* stage(16, 600, 10)
        let members = [first, yield* join]
        const ids: Array<string> = []
        for (const restart of indices(8)) {
          const [oldest, other] = members
          if (oldest === undefined || other === undefined) break
          ids.push(yield* start(oldest, restart * 2), yield* start(other, restart * 2 + 1))
          yield* oldest.kill(restart % 2 === 0 ? "SIGTERM" : "SIGKILL")
          yield* oldest.ended
          members = [other, yield* join]
        }
        expect(yield* statesOf(members[0] ?? first, ids)).toEqual(succeeded(ids))
        expect(yield* silence).toBeLessThan(10 * patience)
      }))

    test.scoped("takes the runs of a killed service over within the time that is set", () =>
      Effect.gen(function*() {
        const { first, join, query, start, taken } = yield* stage(8, 400, 5 * patience)
        yield* join
        const ids = yield* Effect.forEach(indices(8), (index) => start(first, index))
        yield* until(first, ids[7] ?? "", hasBegun("sync"))
        const before = yield* query("SELECT clock_timestamp()")
        yield* first.kill("SIGKILL")
        yield* Effect.repeat(taken, { schedule: Schedule.spaced("100 millis"), until: (count) => count === ids.length })
          .pipe(Effect.timeout(Duration.seconds(30 * patience)))
        const times = yield* query(`SELECT extract(epoch FROM at - '${before}') FROM record WHERE event = 'taken'`)
        const seconds = times.split("\n").map(Number)
        expect(seconds).toHaveLength(8)
        expect(Math.max(...seconds)).toBeLessThan(5 * patience)
      }))

    test.scoped("keeps its runs while other roles of its database flood it with notifications", () =>
      Effect.gen(function*() {
        const { guest } = yield* Postgres
        const { address, cut, first, join, query, start, taken } = yield* stage(4, 600, 5 * patience)
        yield* join
        yield* flood(yield* guest(address), "berth_runs")
        // One that has learned its name.
        const channel = yield* query("SELECT name FROM notify_channel")
        const mallory = yield* guest(address)
        yield* flood(mallory, channel)
        yield* flood(mallory, channel)
        const ids = yield* Effect.forEach(indices(4), (index) => start(first, index))
        expect(yield* statesOf(first, ids)).toEqual(succeeded(ids))
        expect([yield* cut, yield* taken]).toEqual([0, 0])
        expect(first.output()).toContain("stops listening for 30 seconds")
      }))
  })
})
