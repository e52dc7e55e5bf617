import { describe, expect, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { HttpFault } from "../../src/sandbox/httpDouble.ts"
import { makeImageArchive } from "../../src/sandbox/projects.ts"
import type { World } from "../../src/sandbox/world.ts"
import { canCut, openCutLine } from "../fixtures/network/cutLine.ts"
import { patience } from "../fixtures/patience.ts"
import { realPostgres, startPostgres } from "../fixtures/runs/postgres.ts"
import { begin, hasBegun, isEnded, makeTeam, stepsOf, until } from "../fixtures/runs/team.ts"
import { inPart } from "../fixtures/thorough.ts"
import { plant } from "../layers/temporary.ts"

class Postgres
  extends Context.Tag("test/Postgres")<Postgres, Effect.Effect.Success<ReturnType<typeof startPostgres>>>()
{}
const PostgresLive = Layer.scoped(Postgres, startPostgres("*"))
const fresh = Effect.flatMap(Postgres, ({ database }) => database())

/** Every call takes a while, so that there is time to break something in each step. */
const slowly = ({ gitHost, platform }: World, millis = 150) =>
  Effect.forEach(
    [platform, gitHost],
    (double) => double.fail({}, HttpFault.Delay({ duration: `${millis} millis` }), { times: 10_000 }),
    { discard: true }
  )

const upsertOf = ({ projects }: World) => ({ projectPath: join(projects, "hello") })
const changelogOf = (world: World): ReadonlyArray<unknown> =>
  JSON.parse(readFileSync(join(world.projects, "hello", "platform.changelog.json"), "utf8"))
const deployments = ({ platform }: World) =>
  Effect.map(platform.calls, (calls) => calls.filter(({ path }) => path.endsWith("/deploy")).length)
const creations = ({ platform }: World) =>
  Effect.map(
    platform.calls,
    (calls) => calls.filter(({ method, path }) => method === "POST" && /\/applications(\/\w[\w-]*)?$/.test(path)).length
  )

/** Ended steps of a run with their last writer; a process that repeats a step writes it again. */
const keptSteps = (address: string) =>
  Effect.map(Postgres, ({ query }) => (id: string) =>
    Effect.map(
      query(address, `SELECT step, xmin FROM run_steps WHERE run_id = '${id}' AND result IS NOT NULL`),
      (text): ReadonlyArray<string> => text === "" ? [] : text.split("\n")
    ))

const steps = ["config", "server", "check", "validate", "sync", "env", "route", "changelog", "deploy", "webhook"]
// Several are killed at once: most of their time they wait for somebody to be missed.
const lanes = [steps.filter((_, index) => index % 2 === 0), steps.filter((_, index) => index % 2 === 1)]
// More services than this at a time, and they would not be on time.
const turns = Effect.unsafeMakeSemaphore(3)

describe.skipIf(!realPostgres.available)(realPostgres.title("a team of services"), { concurrent: true }, () => {
  layer(PostgresLive, { timeout: "60 seconds", excludeTestServices: true })((test) => {
    for (const lane of lanes) {
      test.scoped(
        `goes on with an upsert in whose ${lane.join(", ")} a service is killed`,
        () =>
          Effect.gen(function*() {
            const address = yield* fresh
            const kept = yield* keptSteps(address)
            const team = yield* makeTeam(address)
            yield* slowly(team.world)
            let one = yield* team.join()
            let other = yield* team.join()
            for (const [round, step] of inPart(lane, lane.slice(2, 4)).entries()) {
              const asked = yield* deployments(team.world)
              const id = yield* begin(one, "/api/platform/upsert", upsertOf(team.world))
              yield* until(one, id, (run) => isEnded(run) || hasBegun(step)(run))
              yield* one.kill("SIGKILL")
              const before = yield* kept(id)
              const next = yield* Effect.forkScoped(team.join())
              const run = yield* until(other, id, isEnded)
              expect([step, run["state"], run["error"]]).toEqual([step, "succeeded", null])
              expect(stepsOf(run).map(({ status }) => status)).toEqual(steps.map(() => "done"))
              // Ended runs were not started again.
              expect(yield* kept(id)).toEqual(expect.arrayContaining([...before]))
              expect(changelogOf(team.world)).toHaveLength(round + 1)
              // The call during which the service died may or may not have reached the platform.
              const more = (yield* deployments(team.world)) - asked
              expect([step, Math.min(Math.max(more, 1), 2)]).toEqual([step, more])
              ;[one, other] = [other, yield* next.await.pipe(Effect.flatten)]
            }
            expect(yield* creations(team.world)).toBe(1)
          }).pipe(turns.withPermits(1)),
        480_000 * patience
      )
    }

    test.scoped("ends a deploy as the server says, whose service is killed", () =>
      Effect.gen(function*() {
        const team = yield* makeTeam(yield* fresh, 6)
        const { projects, serverId } = team.world
        const deploy = { projectPath: join(projects, "hello"), serverId, remotePath: "~/containers/hello" }
        let one = yield* team.join()
        let other = yield* team.join()
        for (const step of ["upload", "start"]) {
          const data = randomBytes(4_000_000).toString("hex")
          yield* plant(deploy.projectPath, {
            "hello.tar": makeImageArchive({
              name: "hello:latest",
              layers: [{ version: `${step} ${Date.now()}`, data }]
            })
          })
          const id = yield* begin(one, "/api/container/deploy", deploy)
          yield* until(one, id, (run) => isEnded(run) || hasBegun(step)(run))
          yield* one.kill("SIGKILL")
          const next = yield* Effect.forkScoped(team.join())
          const run = yield* until(other, id, isEnded)
          expect([step, run["state"]]).toEqual([step, expect.stringMatching(/^(succeeded|failed|interrupted)$/)])
          expect(stepsOf(run).filter(({ status }) => status === "running")).toEqual([])
          ;[one, other] = [other, yield* next.await.pipe(Effect.flatten)]
        }
        const last = yield* one.request("POST", "/api/container/deploy", deploy)
        expect(last).toMatchObject({ status: 200, body: { success: true } })
      }).pipe(turns.withPermits(1)), 480_000)

    test.scoped("goes on in order when one of them is told to end", () =>
      Effect.gen(function*() {
        const address = yield* fresh
        const { query } = yield* Postgres
        const team = yield* makeTeam(address)
        yield* slowly(team.world)
        const one = yield* team.join()
        const other = yield* team.join()
        const id = yield* begin(one, "/api/platform/upsert", upsertOf(team.world))
        yield* until(one, id, hasBegun("sync"))
        yield* one.kill("SIGTERM")
        expect(yield* one.ended).toMatchObject({ signal: null })
        // It has signed off by itself.
        expect(yield* query(address, "SELECT count(*) FROM instances")).toBe("1")
        const run = yield* until(other, id, isEnded)
        expect([run["state"], changelogOf(team.world).length]).toEqual(["succeeded", 1])
      }).pipe(turns.withPermits(1)), 480_000)

    test.scoped(
      "goes on with an upsert when its database is started again in the middle",
      () =>
        Effect.gen(function*() {
          // One of its own: the others go on meanwhile.
          const postgres = yield* startPostgres()
          const team = yield* makeTeam(yield* postgres.database())
          yield* slowly(team.world)
          const one = yield* team.join()
          const other = yield* team.join()
          const id = yield* begin(one, "/api/platform/upsert", upsertOf(team.world))
          const before = yield* until(one, id, hasBegun("sync"))
          yield* postgres.stop
          yield* Effect.sleep("2 seconds")
          yield* postgres.start
          const run = yield* until(other, id, isEnded)
          expect([run["state"], run["error"], changelogOf(team.world).length]).toEqual(["succeeded", null, 1])
          for (const ended of stepsOf(before).filter(({ status }) => status === "done")) {
            if (ended.step !== "config") expect(stepsOf(run)).toContainEqual(ended)
          }
          expect(yield* creations(team.world)).toBe(1)
          const again = yield* one.request("POST", "/api/platform/upsert", upsertOf(team.world))
          expect(again).toMatchObject({ status: 200, body: { success: true } })
        }).pipe(turns.withPermits(1)),
      480_000 * patience
    )

    test.scoped("does not do twice what a frozen service is at", () =>
      Effect.gen(function*() {
        const address = yield* fresh
        const { query } = yield* Postgres
        const team = yield* makeTeam(address, 6)
        yield* slowly(team.world)
        const one = yield* team.join()
        const other = yield* team.join()
        const id = yield* begin(one, "/api/platform/upsert", upsertOf(team.world))
        yield* until(one, id, hasBegun("sync"))
        yield* one.kill("SIGSTOP")
        yield* Effect.sleep("9 seconds")
        expect(yield* other.run(id)).toMatchObject({ state: "running" })
        expect(yield* query(address, `SELECT attempt FROM runs WHERE id = '${id}'`)).toBe("1")
        yield* one.kill("SIGCONT")
        const run = yield* until(other, id, isEnded)
        expect([run["state"], changelogOf(team.world).length]).toEqual(["succeeded", 1])
        expect(yield* deployments(team.world)).toBe(1)
      }).pipe(turns.withPermits(1)), 480_000)

    test.scoped.skipIf(!canCut)(
      "takes over from a service that is cut off, which does not go on when it is back",
      () =>
        Effect.gen(function*() {
          const address = yield* fresh
          const { port, query } = yield* Postgres
          const line = yield* openCutLine(port)
          const team = yield* makeTeam(address, 6)
          yield* slowly(team.world, 500)
          const one = yield* team.join(address.replace(/127\.0\.0\.1:\d+/, `${line.host}:${line.port}`))
          const other = yield* team.join()
          const id = yield* begin(one, "/api/platform/upsert", upsertOf(team.world))
          yield* until(one, id, hasBegun("sync"))
          yield* line.cut
          yield* until(other, id, hasBegun("env"))
          // Requests that need no database succeed without one.
          expect(yield* one.request("GET", "/api/projects")).toMatchObject({ status: 200 })
          expect(yield* one.request("GET", "/api/runs")).toMatchObject({ status: 503 })
          yield* line.mend
          const run = yield* until(other, id, isEnded)
          expect([run["state"], run["error"], changelogOf(team.world).length]).toEqual(["succeeded", null, 1])
          expect(yield* query(address, `SELECT attempt FROM runs WHERE id = '${id}'`)).toMatch(/^[2-9]$/)
          expect(yield* deployments(team.world)).toBe(1)
          expect(yield* creations(team.world)).toBe(1)
          expect(yield* until(one, id, isEnded)).toEqual(run)
          const again = yield* begin(one, "/api/platform/upsert", upsertOf(team.world))
          expect(yield* until(one, again, isEnded)).toMatchObject({ state: "succeeded" })
        }).pipe(turns.withPermits(1)),
      480_000 * patience
    )
  })
})
