import { describe, expect, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Layer, Option, Schedule } from "effect"
import { readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { get } from "node:http"
import { dirname, join } from "node:path"
import { HttpFault } from "../../src/sandbox/httpDouble.ts"
import { makeWorld } from "../../src/sandbox/world.ts"
import { RunHistory } from "../../src/services/runs/store.ts"
import { runStoreIn } from "../../src/services/state/RunStoreLive.ts"
import { settingsTest } from "../../src/testing/SettingsTest.ts"
import { run as execute } from "../fixtures/network/openssh.ts"
import { patience } from "../fixtures/patience.ts"
import { type Service, settingsFileWith, startService } from "../fixtures/programs/service.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"
import type { Json } from "../sandbox/request.ts"

const canMount = process.platform === "linux" && process.getuid?.() === 0
const title = "a full disk under the history of runs" + (canMount ? "" : " (needs root on Linux)")
const isAsync = { prefer: "respond-async" }

/** A small disk of its own. */
const smallDisk = (megabytes: number) =>
  Effect.tap(temporaryDirectory, (directory) =>
    Effect.acquireRelease(
      execute("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=700`, "tmpfs", directory]),
      () => Effect.ignore(execute("umount", ["--lazy", directory]))
    ))

const fill = (disk: string) => {
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(join(disk, "filler"), Buffer.alloc(bavail * bsize))
}

const json = (value: unknown): Json => JSON.parse(JSON.stringify(value))
const runOf = ({ request }: Service, id: string) =>
  Effect.map(request("GET", `/api/runs/${id}`), ({ body }) => json(body))
const until = (service: Service, id: string, holds: (run: string) => boolean) =>
  Effect.repeat(runOf(service, id), {
    until: (run) => holds(JSON.stringify(run)),
    schedule: Schedule.spaced("20 millis")
  }).pipe(Effect.timeout("60 seconds"), Effect.zipRight(runOf(service, id)))

describe.skipIf(!canMount)(title, () => {
  it.scopedLive(
    "holds a run up, which says so, and goes on by itself when there is room again",
    () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        const disk = yield* smallDisk(2)
        const settingsFile = join(disk, "berth.yaml")
        writeFileSync(settingsFile, readFileSync(world.settingsFile), { mode: 0o600 })
        const upsert = { projectPath: join(world.projects, "hello") }
        const id = yield* Effect.scoped(Effect.gen(function*() {
          const service = yield* startService(settingsFile)
          yield* world.platform.fail({}, HttpFault.Delay({ duration: "200 millis" }), { times: 10_000 })
          const started = yield* service.request("POST", "/api/platform/upsert", upsert, isAsync)
          const id = String(json(started.body)["id"])
          yield* until(service, id, (run) => run.includes("\"check\""))
          fill(disk)
          yield* until(service, id, (run) => run.includes("the disk is full"))
          const health = yield* service.request("GET", "/api/health?deep=true")
          expect(JSON.stringify(health.body)).toMatch(/Runs cannot be recorded[^"]*the disk is full/)
          const refused = yield* service.request("POST", "/api/platform/upsert", upsert, isAsync)
          expect([refused.status, refused.text]).toEqual([503, expect.stringContaining("the disk is full")])
          expect(JSON.stringify(yield* runOf(service, id))).toContain("\"running\"")

          rmSync(join(disk, "filler"))
          const ended = yield* until(service, id, (run) => !run.includes("\"state\":\"running\""))
          expect([ended["state"], ended["error"]]).toEqual(["succeeded", null])
          const again = yield* service.request("GET", "/api/health?deep=true")
          expect(again.text).not.toContain("the disk is full")
          return id
        }))
        const service = yield* startService(settingsFile)
        const kept = yield* runOf(service, id)
        expect(kept["state"]).toBe("succeeded")
        expect(JSON.stringify(kept["steps"])).not.toContain("waiting to be recorded")
        const changelog = readFileSync(join(upsert.projectPath, "platform.changelog.json"), "utf8")
        expect(JSON.parse(changelog)).toHaveLength(1)
      }),
    120_000 * patience
  )
})

describe("a history of a thousand runs", () => {
  it.scopedLive(
    "is listed page by page, each run once and the newest first, without delay",
    () =>
      Effect.gen(function*() {
        const settingsFile = yield* settingsFileWith("")
        const ids = Array.from({ length: 1_000 }, (_, index) => `run${String(index).padStart(23, "0")}`)
        const steps = Array.from({ length: 10 }, (_, index) => ({
          step: `step${index}`,
          status: "done" as const,
          detail: "some words of it",
          startedAt: "2026-01-02T03:04:05.678Z",
          endedAt: "2026-01-02T03:04:05.678Z"
        }))
        yield* Effect.flatMap(RunHistory, (store) =>
          Effect.forEach(ids, (id, index) =>
            store.insert({
              run: {
                id,
                kind: index % 2 === 0 ? "upsert" : "deploy",
                subject: { appName: `app${index % 10}` },
                state: "succeeded",
                requestedBy: { door: "http", name: "ann" },
                requestedAt: new Date().toISOString(),
                startedAt: null,
                endedAt: null,
                steps,
                result: { text: "x".repeat(1_000) },
                error: null
              },
              request: {},
              workflow: "upsert/v1",
              queue: "",
              idempotency: Option.none(),
              attempt: 1
            }))).pipe(
            Effect.provide(
              runStoreIn(join(dirname(settingsFile), "berth.db"), "20 seconds").pipe(Layer.provide(settingsTest()))
            )
          )
        const { request } = yield* startService(settingsFile)
        const page = (query: string) =>
          Effect.map(
            request("GET", `/api/runs?${query}`),
            ({ body }): { runs: ReadonlyArray<Json>; next: string | null } => JSON.parse(JSON.stringify(body))
          )
        const seen: Array<string> = []
        let next: string | null = ""
        while (next !== null) {
          const { next: after, runs }: { runs: ReadonlyArray<Json>; next: string | null } = yield* page(
            next === "" ? "limit=50" : `limit=50&before=${next}`
          )
          seen.push(...runs.map(({ id }) => String(id)))
          next = after
        }
        expect(seen).toEqual(ids.toReversed())
        expect((yield* page("kind=deploy&appName=app3&limit=500")).runs).toHaveLength(100)
        const times = yield* Effect.forEach(
          [1, 2, 3, 4, 5],
          () => Effect.map(Effect.timed(page("limit=50")), ([time]) => time)
        )
        // A hundred milliseconds, on a machine that does nothing else.
        expect(Math.min(...times.map(Duration.toMillis))).toBeLessThan(500 * patience)
      }),
    120_000 * patience
  )
})

// As much as a run keeps of its output, for who comes late or reads slowly.
const lines = 50

/** Follows a run to its last event and counts its output lines; `began` is called at the first event. */
const follow = (url: string, began: () => void) =>
  Effect.async<{ readonly printed: number; readonly last: string }>((resume) => {
    const request = get(url, (response) => {
      let text = ""
      response.setEncoding("utf8").once("data", began).on("data", (chunk: string) => void (text += chunk)).on(
        "end",
        () => {
          const events = text.split("\n\n").flatMap((event) => {
            const [, name = "", data = ""] = /^event: (\w+)\ndata: (.*)$/m.exec(event) ?? []
            return name === "" ? [] : [{ name, data }]
          })
          const output = events.filter(({ name }) => name === "output").map(({ data }) => String(JSON.parse(data).text))
          resume(Effect.succeed({ printed: output.join("").split("\n").length - 1, last: events.at(-1)?.name ?? "" }))
        }
      )
    })
    return Effect.sync(() => request.destroy())
  })

describe.skipIf(process.platform === "win32")("fifty watchers of a run", () => {
  it.scopedLive("all get all of it, while one of them reads nothing", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      yield* plant(root, {
        "app/build-image-tar.ps1": "-",
        "shell": `while [ ! -e '${root}/go' ]; do sleep 0.05; done
i=0; while [ $i -lt ${lines} ]; do printf 'line %d %01000d\\n' $i $i; i=$((i+1)); done`
      })
      const { request, url } = yield* startService(
        yield* settingsFileWith(JSON.stringify({ build: { shell: ["sh", join(root, "shell")] } }))
      )
      const started = yield* request("POST", "/api/container/build", { projectPath: join(root, "app") }, isAsync)
      const events = `${url}/api/runs/${json(started.body)["id"]}/events`
      const began = yield* Deferred.make<void>()
      let watching = 0
      const isWatching = () => {
        watching += 1
        if (watching === 50) Deferred.unsafeDone(began, Effect.void)
      }
      const readers = yield* Effect.forEach(Array.from({ length: 50 }), () => Effect.fork(follow(events, isWatching)))
      yield* Effect.acquireRelease(
        Effect.async<ReturnType<typeof get>>((resume) => {
          // Its answer is never read.
          const request = get(events, () => resume(Effect.succeed(request)))
        }),
        (request) => Effect.sync(() => request.destroy())
      )
      yield* Deferred.await(began)
      writeFileSync(join(root, "go"), "")
      const ends = yield* Effect.forEach(readers, Fiber.join)
      expect(ends).toEqual(ends.map(() => ({ printed: lines, last: "end" })))
      expect((yield* request("GET", "/api/health")).status).toBe(200)
    }), 120_000 * patience)
})
