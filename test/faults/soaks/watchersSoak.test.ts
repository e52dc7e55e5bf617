import { describe, expect, it } from "@effect/vitest"
import { Clock, Console, Effect, Fiber, Option, Schema } from "effect"
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { runLimit, streamLimit } from "../../../src/services/limits.ts"
import { startBerth } from "../../fixtures/berthProcess.ts"
import { patience } from "../../fixtures/patience.ts"
import { runCli } from "../../fixtures/programs/cli.ts"
import { settingsFileWith } from "../../fixtures/programs/service.ts"
import { requestTo } from "../../sandbox/request.ts"

const program = fileURLToPath(new URL("../../fixtures/watchers.mjs", import.meta.url))
const names = Array.from({ length: 8 }, (_, index) => `caller-${index}`)
const tokens = names.map((name) => `${name}-open-sesame`)
const settings = (projects: string) =>
  `projects:\n  root: ${projects}\nhttp:\n  tokens:\n${
    names.map((name) => `    - { name: ${name}, token: ${name}-open-sesame, role: operator }\n`).join("")
  }`
// Every tenth does not read.
const mostThatRead = streamLimit.all * 0.85
/** Prints as fast as it is read, until there is a file `enough` beside it. */
const loud = `#!/bin/sh
for part in $(seq 30); do
  [ -e enough ] && break
  timeout 3 sh -c 'yes "[12:00:00] a line of a build that says what it does, and more"'
done
`

/** Totals of all watchers: responses per status, bytes, ends of the run, and drops of lines. */
const Watched = Schema.parseJson(Schema.Struct({
  statuses: Schema.Record({ key: Schema.String, value: Schema.Number }),
  bytes: Schema.Number,
  ended: Schema.Number,
  dropped: Schema.Number
}))

/** Resident memory of a process in kB. */
const memoryOf = (pid: number) => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1])

/** Watchers in a process of their own; the effect ends them and answers what they got. */
const watchers = (url: string, path: string, count: number) =>
  Effect.gen(function*() {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, [program, new URL(url).port, path, String(count), ...tokens], {
          stdio: ["pipe", "pipe", "inherit"]
        })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    let output = ""
    child.stdout.on("data", (text) => output += String(text))
    return {
      answered: Effect.sync(() => output.includes("answered\n")),
      ended: Effect.sync(() => output.split("\n").filter((line) => line === "ended").length),
      end: Effect.flatMap(
        Effect.async<string>((resume) => {
          child.once("close", () => resume(Effect.succeed(output.split("\n").at(-2) ?? "")))
          child.stdin.end()
        }),
        Schema.decode(Watched)
      )
    }
  })

/** A service with a project whose build is this script, and a request of each caller's. */
const serviceWith = (script: string) =>
  Effect.gen(function*() {
    const settingsFile = yield* settingsFileWith("")
    const projectPath = join(dirname(settingsFile), "projects", "app")
    mkdirSync(projectPath, { recursive: true })
    writeFileSync(join(projectPath, "build-image-tar.sh"), script)
    writeFileSync(settingsFile, settings(dirname(projectPath)))
    // Callers with a token run only what the machine's user has trusted.
    expect((yield* runCli({ settingsFile }, ["trust", projectPath, "--yes"])).code).toBe(0)
    const { pid, url } = yield* startBerth(settingsFile)
    const requests = tokens.map((token) =>
      requestTo(url, {
        "content-type": "application/json",
        authorization: `Bearer ${token}`,
        prefer: "respond-async"
      })
    )
    const [request = requestTo(url, {})] = requests
    const healthTime = Effect.gen(function*() {
      const before = yield* Clock.currentTimeMillis
      expect((yield* request("GET", "/api/health")).status).toBe(200)
      return (yield* Clock.currentTimeMillis) - before
    })
    const build = (index: number) =>
      (requests[index % requests.length] ?? request)("POST", "/api/container/build", { projectPath })
    // Modules loaded at first use are not a leak.
    yield* Effect.zipRight(request("GET", "/api/runs"), healthTime)
    const atFirst = memoryOf(pid)
    /** Latency of the health check, and the growth of memory in kB, until an effect has ended. */
    const during = <A, E>(work: Effect.Effect<A, E>) =>
      Effect.gen(function*() {
        const working = yield* Effect.fork(work)
        const times: Array<number> = []
        let growth = 0
        while (Option.isNone(yield* Fiber.poll(working))) {
          times.push(yield* healthTime)
          growth = Math.max(growth, memoryOf(pid) - atFirst)
          yield* Effect.sleep("100 millis")
        }
        // A machine that does other work too makes one of them wait by itself.
        const usual = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0
        return { done: yield* Fiber.join(working), usual, slowest: Math.max(...times), growth }
      })
    return { url, request, build, during, projectPath }
  })

describe.skipIf(!existsSync("/proc/self/status"))("a crowd", () => {
  it.scopedLive(
    "of 1,000 watchers of a loud run holds up nobody, and takes no memory for what it does not read",
    () =>
      Effect.gen(function*() {
        const { build, during, projectPath, request, url } = yield* serviceWith(loud)
        const id = (yield* build(0)).headers.get("berth-run")
        const crowd = yield* watchers(url, `/api/runs/${id}/events`, 1_000)
        const hasEnded = Effect.map(
          request("GET", `/api/runs/${id}`),
          ({ body }) => String(body["state"]) !== "running"
        )
        const { growth, slowest, usual } = yield* during(
          Effect.sleep("1 second").pipe(
            Effect.repeat({ until: () => crowd.answered }),
            Effect.zipRight(Effect.sleep("6 seconds")),
            Effect.zipRight(Effect.sync(() => writeFileSync(join(projectPath, "enough"), ""))),
            Effect.zipRight(Effect.repeat(Effect.sleep("1 second"), { until: () => hasEnded })),
            Effect.zipRight(
              Effect.repeat(Effect.sleep("1 second"), {
                until: () => Effect.map(crowd.ended, (count) => count >= mostThatRead)
              })
            )
          )
        )
        const got = yield* crowd.end
        yield* Console.log(
          `1,000 watchers: health within ${usual} ms, at most ${slowest} ms, ${growth} kB more, ${JSON.stringify(got)}`
        )
        expect(usual).toBeLessThan(500 * patience)
        expect(slowest).toBeLessThan(5_000 * patience)
        expect(growth).toBeLessThan(600_000)
        expect(got.statuses).toEqual({ 200: streamLimit.all, 429: 1_000 - streamLimit.all })
        expect(got.dropped).toBeGreaterThan(0)
        expect(got.ended).toBeGreaterThanOrEqual(mostThatRead)
      }),
    120_000 * patience
  )

  it.scopedLive(
    "of 4,000 runs is refused from a limit on, and takes no more memory then",
    () =>
      Effect.gen(function*() {
        const { build, during } = yield* serviceWith("#!/bin/sh\nsleep 100\n")
        const { done, growth, slowest, usual } = yield* during(
          Effect.forEach(Array.from({ length: 4_000 }, (_, index) => index), build, { concurrency: 20 })
        )
        const count = (wanted: number) => done.filter(({ status }) => status === wanted).length
        yield* Console.log(`4,000 runs: health within ${usual} ms, at most ${slowest} ms, ${growth} kB more`)
        expect([count(202), count(429)]).toEqual([runLimit.all, 4_000 - runLimit.all])
        expect(done.find(({ status }) => status === 429)?.headers.get("retry-after")).toBe("30")
        expect(usual).toBeLessThan(500 * patience)
        expect(slowest).toBeLessThan(5_000 * patience)
        expect(growth).toBeLessThan(400_000)
      }),
    120_000 * patience
  )
})
