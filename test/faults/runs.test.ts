import { describe, expect, it } from "@effect/vitest"
import { Config, Duration, Effect, Schedule } from "effect"
import { randomBytes } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { HttpFault } from "../../src/sandbox/httpDouble.ts"
import { makeImageArchive } from "../../src/sandbox/projects.ts"
import { makeWorld, type World } from "../../src/sandbox/world.ts"
import { startBerth } from "../fixtures/berthProcess.ts"
import { patience } from "../fixtures/patience.ts"
import { inPart } from "../fixtures/thorough.ts"
import { plant } from "../layers/temporary.ts"
import { type Json, requestTo } from "../sandbox/request.ts"

const json = { "content-type": "application/json", "prefer": "respond-async" }

const isEnded = ({ state }: Json) => !["queued", "running"].includes(String(state))
const stepsOf = (run: Json): ReadonlyArray<{ readonly step: string; readonly status: string }> =>
  JSON.parse(JSON.stringify(run["steps"]))

/** Every call takes a while, so that there is time to end the process in each step. */
const slowly = ({ gitHost, platform }: World, duration: Duration.DurationInput = "250 millis") =>
  Effect.forEach(
    [platform, gitHost],
    (double) => double.fail({}, HttpFault.Delay({ duration }), { times: 10_000 }),
    { discard: true }
  )

const runOf = (url: string, id: string) =>
  Effect.map(requestTo(url, json)("GET", `/api/runs/${id}`), ({ body }) => body)
const until = (url: string, id: string, holds: (run: Json) => boolean) =>
  Effect.repeat(runOf(url, id), { until: holds, schedule: Schedule.spaced("10 millis") }).pipe(
    Effect.zipRight(runOf(url, id)),
    Effect.timeout("60 seconds")
  )

/** An archive of the project's image that takes a moment to send. */
const archiveOf = (version: string) =>
  makeImageArchive({ name: "hello:latest", layers: [{ version, data: randomBytes(4_000_000).toString("hex") }] })

const changelogOf = (world: World): ReadonlyArray<{ readonly timestamp: string }> =>
  JSON.parse(readFileSync(join(world.projects, "hello", "platform.changelog.json"), "utf8"))

const steps = ["sync", "check", "env", "changelog", "webhook"]

describe.skipIf(process.platform === "win32")("a run whose process is killed", () => {
  it.scopedLive("as an upsert, in any step, goes on from there at the next start", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      yield* slowly(world)
      const upsert = { projectPath: join(world.projects, "hello") }
      let berth = yield* startBerth(world.settingsFile)
      for (const [round, step] of steps.entries()) {
        const before = (yield* world.platform.calls).length
        const { body } = yield* requestTo(berth.url, json)("POST", "/api/platform/upsert", upsert)
        const id = String(body["id"])
        const killed = yield* until(berth.url, id, (run) => stepsOf(run).some((each) => each.step === step))
        yield* berth.kill("SIGKILL")
        yield* berth.ended
        const finished = stepsOf(killed).filter(({ status }) => status === "done").map((each) => each.step)
        berth = yield* startBerth(world.settingsFile)
        const run = yield* until(berth.url, id, isEnded)
        expect([step, run["state"], run["error"]]).toEqual([step, "succeeded", null])
        expect(stepsOf(run).map((each) => each.status)).toEqual(Array.from({ length: 10 }, () => "done"))
        expect(changelogOf(world)).toHaveLength(round + 1)
        const calls = (yield* world.platform.calls).slice(before)
        const deployments = calls.filter(({ path }) => path.endsWith("/deploy"))
        // The changelog is written in a moment: the kill may come while the platform is being asked to deploy, and whether
        // it heard that cannot be known.
        const isAskedOnce = finished.includes("deploy") || step !== "changelog"
        expect([step, Math.min(deployments.length, isAskedOnce ? 9 : 1)]).toEqual([step, 1])
        const lookUps = calls.filter(({ method, path }) => method === "GET" && path.endsWith("/servers"))
        if (finished.includes("server")) expect(lookUps.length).toBeLessThanOrEqual(1)
      }
      const calls = yield* world.platform.calls
      expect(calls.filter(({ method, path }) => method === "POST" && /\/applications(\/\w[\w-]*)?$/.test(path)))
        .toHaveLength(1)
      const { body: { runs } } = yield* requestTo(berth.url, json)("GET", "/api/runs?kind=upsert")
      expect(JSON.parse(JSON.stringify(runs)).map(({ state }: Json) => state)).toEqual(steps.map(() => "succeeded"))
      const left = readdirSync(dirname(world.settingsFile)).filter((name) => name.startsWith("berth.db"))
      expect(left.filter((name) => name.includes("corrupt"))).toEqual([])
    }), 180_000 * patience)

  it.scopedLive(
    "as an upsert that is held to a plan, does what was planned at the next start",
    () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        yield* slowly(world)
        const projectPath = join(world.projects, "hello")
        const file = join(projectPath, "platform.json")
        const entry: Json = JSON.parse(readFileSync(file, "utf8"))
        let berth = yield* startBerth(world.settingsFile)
        // The plan does not hold any more when its own upsert has done half of it: that is not compared again.
        for (const [step, port] of [["sync", 3101], ["env", 3102]] as const) {
          yield* plant(projectPath, { "platform.json": JSON.stringify({ ...entry, port }) })
          const ask = requestTo(berth.url, { "content-type": "application/json" })
          const { body: { planHash } } = yield* ask("POST", "/api/platform/plan", { projectPath })
          const { body } = yield* requestTo(berth.url, json)("POST", "/api/platform/upsert", { projectPath, planHash })
          const id = String(body["id"])
          yield* until(berth.url, id, (run) => stepsOf(run).some((each) => each.step === step))
          yield* berth.kill("SIGKILL")
          yield* berth.ended
          berth = yield* startBerth(world.settingsFile)
          const run = yield* until(berth.url, id, isEnded)
          expect([step, run["state"], run["error"]]).toEqual([step, "succeeded", null])
          const again = requestTo(berth.url, { "content-type": "application/json" })
          expect((yield* again("POST", "/api/platform/plan", { projectPath })).body["changes"]).toEqual([])
          const late = yield* again("POST", "/api/platform/upsert", { projectPath, planHash })
          expect([late.status, late.body["error"]]).toEqual([409, expect.stringContaining("no longer holds")])
        }
      }),
    180_000 * patience
  )

  it.scopedLive(
    "as one told to end with SIGTERM, ends soon, and goes on at the next start",
    () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        yield* slowly(world, "100 millis")
        const upsert = { projectPath: join(world.projects, "hello") }
        let berth = yield* startBerth(world.settingsFile)
        // Spread over the second that such an upsert takes.
        const times = yield* Config.withDefault(Config.integer("BERTH_SOAK_SIGTERMS"), inPart(8, 3))
        const moments = Array.from({ length: times }, (_, index) => 30 + Math.round((index * 900) / times))
        for (const millis of moments) {
          const { body } = yield* requestTo(berth.url, json)("POST", "/api/platform/upsert", upsert)
          yield* Effect.sleep(millis)
          const [elapsed, { signal }] = yield* Effect.timed(Effect.zipRight(berth.kill("SIGTERM"), berth.ended))
          expect(signal).toBe(null)
          expect(Duration.toSeconds(elapsed)).toBeLessThan(10)
          berth = yield* startBerth(world.settingsFile)
          const run = yield* until(berth.url, String(body["id"]), isEnded)
          expect(run["state"]).toBe("succeeded")
        }
        expect(changelogOf(world)).toHaveLength(times)
      }),
    900_000
  )

  it.scopedLive(
    "as a deploy, in any step, ends as the server says, and the next deploy goes through",
    () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        const deploy = {
          projectPath: join(world.projects, "hello"),
          serverId: world.serverId,
          remotePath: "~/containers/hello"
        }
        let berth = yield* startBerth(world.settingsFile)
        const ends: Array<string> = []
        for (const step of ["preflight", "upload", "load", "start", "health"]) {
          yield* plant(deploy.projectPath, { "hello.tar": archiveOf(`${step} ${Date.now()}`) })
          const { body } = yield* requestTo(berth.url, json)("POST", "/api/container/deploy", deploy)
          const id = String(body["id"])
          yield* until(berth.url, id, (run) => isEnded(run) || stepsOf(run).some((each) => each.step === step))
          yield* berth.kill("SIGKILL")
          yield* berth.ended
          berth = yield* startBerth(world.settingsFile)
          const run = yield* until(berth.url, id, isEnded)
          ends.push(String(run["state"]))
          expect([step, run["state"]]).toEqual([step, expect.stringMatching(/^(succeeded|failed|interrupted)$/)])
          if (step === "preflight") expect(run["state"]).toBe("interrupted")
          expect(stepsOf(run).filter(({ status }) => status === "running")).toEqual([])
        }
        expect(ends.at(-1)).toBe("succeeded")
        const last = yield* requestTo(berth.url, { "content-type": "application/json" })(
          "POST",
          "/api/container/deploy",
          deploy
        )
        expect(last).toMatchObject({ status: 200, body: { success: true } })
      }),
    180_000 * patience
  )

  it.scopedLive("keeps no secret in its files", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const berth = yield* startBerth(world.settingsFile)
      const request = requestTo(berth.url, { ...json, "idempotency-key": "canary-of-a-key" })
      const { body } = yield* request("POST", "/api/platform/upsert", { projectPath: join(world.projects, "hello") })
      yield* until(berth.url, String(body["id"]), isEnded)
      yield* berth.kill("SIGKILL")
      yield* berth.ended
      const directory = dirname(world.settingsFile)
      const kept = readdirSync(directory).filter((name) => name.startsWith("berth.db")).map((name) =>
        readFileSync(join(directory, name), "latin1")
      ).join()
      expect(kept).toContain("hello")
      const settings = readFileSync(world.settingsFile, "utf8")
      const secrets = [...settings.matchAll(/(?:token|password|webhookSecret|passphrase): "?([^\s"]{8,})/gi)].map((
        [, secret]
      ) => secret ?? "")
      expect(secrets.length).toBeGreaterThan(2)
      for (const secret of [...secrets, "canary-of-a-key"]) expect(kept).not.toContain(secret)
    }), 60_000 * patience)
})
