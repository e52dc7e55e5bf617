import { describe, expect, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Schedule } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Berth } from "../../src/client/index.ts"
import { inProcess } from "../../src/client/node/inProcess.ts"
import { patience } from "../fixtures/patience.ts"
import { type Service, settingsFileWith, startService } from "../fixtures/programs/service.ts"
import { realPostgres, startPostgres } from "../fixtures/runs/postgres.ts"
import { inPart } from "../fixtures/thorough.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"
import type { Json } from "../sandbox/request.ts"

class Postgres
  extends Context.Tag("test/Postgres")<Postgres, Effect.Effect.Success<ReturnType<typeof startPostgres>>>()
{}
const PostgresLive = Layer.scoped(Postgres, startPostgres())

const isAsync = { prefer: "respond-async" }
const json = (value: unknown): Json => JSON.parse(JSON.stringify(value))
const runsIn = (value: unknown): ReadonlyArray<Json> => JSON.parse(JSON.stringify(json(value)["runs"]))

/** Services that share a database, whose builds run a script of `sh` in a project that both have. */
const stage = (script: string, takeOver = "60 seconds") =>
  Effect.gen(function*() {
    const address = yield* Effect.flatMap(Postgres, ({ database }) => database())
    const root = yield* temporaryDirectory
    yield* plant(root, {
      "app/build-image-tar.ps1": `echo built >>built\n${script}\n`,
      "pwsh": "for script do :; done\n. \"$script\"\n"
    })
    const settings = `projects: { root: "${root}" }\nbuild: { shell: [sh, "${join(root, "pwsh")}"] }\n` +
      `state: { url: "${address}", takeOver: ${takeOver} }\n`
    return {
      root,
      start: Effect.flatMap(settingsFileWith(settings), (file) => startService(file)),
      command: Effect.flatMap(settingsFileWith(settings), (file) =>
        Effect.map(Layer.build(inProcess(file, { door: "cli" })), Context.get(Berth))),
      build: ({ request }: Service, headers: Readonly<Record<string, string>> = {}) =>
        request("POST", "/api/container/build", { projectPath: join(root, "app") }, headers),
      times: () => {
        const file = join(root, "app", "built")
        return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0
      }
    }
  })

const runOf = ({ request }: Service, id: string) =>
  Effect.map(request("GET", `/api/runs/${id}`), ({ body }) => json(body))
const until = (service: Service, id: string, holds: (run: Json) => boolean) =>
  runOf(service, id).pipe(
    Effect.filterOrFail(holds, (run) => new Error(`never: ${JSON.stringify(run)}`)),
    Effect.retry(Schedule.spaced("20 millis").pipe(Schedule.upTo("60 seconds")))
  )
const isEnded = ({ state }: Json) => ["succeeded", "failed", "cancelled", "interrupted"].includes(String(state))

const soon = (holds: () => boolean) =>
  Effect.sync(holds).pipe(
    Effect.filterOrFail((is) => is, () => new Error("never")),
    Effect.retry(Schedule.spaced("20 millis").pipe(Schedule.upTo("30 seconds")))
  )

/** Names of the events, and the output, of a run followed to its end. */
const follow = ({ url }: Service, id: string, began: () => void) =>
  Effect.promise(async () => {
    const response = await fetch(`${url}/api/runs/${id}/events`)
    const decoder = new TextDecoder()
    let text = ""
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      began()
    }
    const events = text.split("\n\n").flatMap((block) => {
      const [, name = "", data = ""] = /^event: (\w+)\ndata: (.*)$/m.exec(block) ?? []
      return name === "" ? [] : [{ name, data: json(JSON.parse(data)) }]
    })
    const printed = events.filter(({ name }) => name === "output").map(({ data }) => String(data["text"]))
    return { names: events.map(({ name }) => name), last: events.at(-1)?.data, printed: printed.join("") }
  })

describe.skipIf(!realPostgres.available)(realPostgres.title("services that share their runs"), () => {
  layer(PostgresLive, { timeout: "60 seconds", excludeTestServices: true })((test) => {
    test.scoped("carry the runs of one queue out in order, one at a time", () =>
      Effect.gen(function*() {
        const { build, start, times } = yield* stage("true")
        const services = [yield* start, yield* start]
        const count = inPart(200, 30)
        const ids = yield* Effect.forEach(
          Array.from({ length: count }, (_, index) => services[index % 2]),
          (service) =>
            service === undefined
              ? Effect.succeed("")
              : Effect.map(build(service, isAsync), ({ body }) => String(json(body)["id"]))
        )
        const [one, other] = services
        if (one === undefined || other === undefined) return
        yield* until(one, ids.at(-1) ?? "", isEnded)
        expect(times()).toBe(count)
        const { body } = yield* other.request("GET", "/api/runs?limit=500")
        const found = new Map(runsIn(body).map((run) => [String(run["id"]), run]))
        const runs = ids.map((id) => found.get(id))
        expect(runs.flatMap((run) => String(run?.["state"]) === "succeeded" ? [] : [run])).toEqual([])
        const late = runs.slice(1).filter((run, index) => String(run?.["startedAt"]) < String(runs[index]?.["endedAt"]))
        expect(late).toEqual([])
      }), 300_000 * patience)

    test.scoped(
      "show, follow and cancel what another one carries out, and what waits there",
      () =>
        Effect.gen(function*() {
          const { build, root, start, times } = yield* stage(
            "while [ ! -e ../go ]; do sleep 0.05; done\necho first line\nsleep 60"
          )
          const [one, other] = [yield* start, yield* start]
          const id = String(json((yield* build(one, isAsync)).body)["id"])
          const waiting = String(json((yield* build(one, isAsync)).body)["id"])
          yield* until(other, id, ({ state }) => String(state) === "running")
          const follower = yield* Effect.fork(follow(other, id, () => writeFileSync(join(root, "go"), "")))
          expect(yield* other.request("POST", `/api/runs/${waiting}/cancel`)).toMatchObject({
            status: 200,
            body: { state: "cancelled", startedAt: null }
          })
          expect(yield* runOf(other, id)).toMatchObject({ state: "running", kind: "build" })
          yield* soon(() => existsSync(join(root, "go")))
          // Output is stored once a second.
          yield* Effect.sleep("1500 millis")
          yield* other.request("POST", `/api/runs/${id}/cancel`)
          const { last, names, printed } = yield* Fiber.join(follower)
          expect([names[0], names.at(-1), printed]).toEqual(["run", "end", "first line\n"])
          expect(last).toMatchObject({ id, state: "cancelled", error: { status: 409 } })
          expect(yield* until(one, id, isEnded)).toEqual(yield* runOf(other, id))
          expect((yield* other.request("POST", `/api/runs/${id}/cancel`)).status).toBe(409)
          expect(times()).toBe(1)
        }),
      60_000 * patience
    )

    test.scoped(
      "show what a command without a service carries out, which waits for its turn",
      () =>
        Effect.gen(function*() {
          const { build, command, root, start, times } = yield* stage("while [ ! -e ../go ]; do sleep 0.05; done")
          const one = yield* start
          const id = String(json((yield* build(one, isAsync)).body)["id"])
          yield* soon(() => existsSync(join(root, "app", "built")))
          const berth = yield* command
          const projectPath = join(root, "app")
          const second = yield* berth.start((api) => api.build({ payload: { projectPath } }))
          const { body } = yield* one.request("GET", "/api/runs?state=queued")
          expect(runsIn(body)).toMatchObject([{ kind: "build", requestedBy: { door: "cli" } }])
          writeFileSync(join(root, "go"), "")
          expect((yield* second.result).value).toMatchObject({ success: true })
          expect(yield* runOf(one, id)).toMatchObject({ state: "succeeded" })
          expect(times()).toBe(2)
        }),
      60_000 * patience
    )

    test.scoped("take a request for one run that is sent to each of them under one key", () =>
      Effect.gen(function*() {
        const { build, start, times } = yield* stage("sleep 0.5")
        const services = [yield* start, yield* start]
        const key = { "idempotency-key": "twice" }
        const answers = yield* Effect.forEach(
          [...services, ...services],
          (service) => build(service, key),
          { concurrency: "unbounded" }
        )
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
        expect(new Set(answers.map(({ headers }) => headers.get("berth-run"))).size).toBe(1)
        expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
        expect(times()).toBe(1)
      }), 60_000 * patience)

    test.scoped(
      "say that their database is away, do what needs none, and go on when it is back",
      () =>
        Effect.gen(function*() {
          const postgres = yield* Postgres
          const { build, root, start, times } = yield* stage("while [ ! -e ../go ]; do sleep 0.05; done")
          const one = yield* start
          const id = String(json((yield* build(one, isAsync)).body)["id"])
          yield* until(one, id, ({ state }) => String(state) === "running")
          yield* Effect.acquireRelease(postgres.stop, () => postgres.start)
          // One starts while there is none.
          const late = yield* start
          const told: Array<string> = []
          for (const service of [one, late]) {
            for (const asked of [build(service), service.request("GET", "/api/runs")]) {
              const { status, text } = yield* asked
              told.push(text)
              expect([status, text]).toEqual([503, expect.stringContaining("PostgreSQL at 127.0.0.1")])
              // The second where the request met a connection that was just lost.
              expect(text).toMatch(/Check that it is (?:started|up, and the network to it)\./)
            }
            expect(yield* service.request("GET", "/api/projects")).toMatchObject({ status: 200 })
            expect(yield* service.request("GET", "/api/health")).toMatchObject({ status: 200, body: { status: "ok" } })
            const { body, text } = yield* service.request("GET", "/api/health?deep=true")
            told.push(text)
            expect(body).toMatchObject({ status: "degraded" })
            expect(text).toMatch(/"history of runs","ok":false,"detail":"Runs cannot be recorded in PostgreSQL at/)
          }
          for (const text of told) expect(text).not.toContain(postgres.password)
          // It was away for less than a third of the time to take over: what was under way has not noticed.
          yield* postgres.start
          writeFileSync(join(root, "go"), "")
          expect(yield* until(one, id, isEnded)).toMatchObject({ state: "succeeded" })
          yield* until(late, id, isEnded)
          expect(times()).toBe(1)
          expect(yield* build(late)).toMatchObject({ status: 200 })
          const { body } = yield* late.request("GET", "/api/health?deep=true")
          expect(JSON.stringify(body)).toContain("can be written")
        }),
      60_000 * patience
    )

    test.scoped(
      "leave a run alone when the database is away for long, and find out what became of it",
      () =>
        Effect.gen(function*() {
          const postgres = yield* Postgres
          const { build, start, times } = yield* stage("sleep 60", "5 seconds")
          const [one, other] = [yield* start, yield* start]
          const caller = yield* Effect.fork(build(one))
          const running = other.request("GET", "/api/runs?state=running").pipe(
            Effect.map(({ body }) => String(runsIn(body)[0]?.["id"] ?? "")),
            Effect.filterOrFail((id) => id !== "", () => new Error("never")),
            Effect.retry(Schedule.spaced("20 millis").pipe(Schedule.upTo("20 seconds")))
          )
          const id = yield* running
          const waiting = String(json((yield* build(one, isAsync)).body)["id"])
          yield* soon(() => times() === 1)
          yield* Effect.acquireRelease(postgres.stop, () => postgres.start)
          const answer = yield* Fiber.join(caller)
          expect([answer.status, answer.text]).toEqual([503, expect.stringContaining(`ask for run ${id}`)])
          yield* postgres.start
          expect(yield* until(other, id, isEnded)).toMatchObject({ state: "interrupted" })
          // Queued runs begin now.
          yield* soon(() => times() === 2)
          yield* other.request("POST", `/api/runs/${waiting}/cancel`)
          yield* until(other, waiting, isEnded)
          expect(times()).toBe(2)
        }),
      60_000 * patience
    )
  })
})
