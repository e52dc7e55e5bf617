import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { stringify } from "yaml"
import { startBerth } from "../fixtures/berthProcess.ts"
import { docker, lines, removeImages, uniqueName } from "../fixtures/docker/docker.ts"
import { realServer } from "../fixtures/docker/realProject.ts"
import { markLabel, runnableImage } from "../fixtures/docker/runnableImage.ts"
import { run, type SshUser, startSshd } from "../fixtures/network/openssh.ts"
import { openRelay } from "../fixtures/network/relay.ts"
import { patience } from "../fixtures/patience.ts"
import { settingsFileWith } from "../fixtures/programs/service.ts"
import { inPart } from "../fixtures/thorough.ts"
import { temporaryDirectory } from "../layers/temporary.ts"
import { type Json, requestTo } from "../sandbox/request.ts"

const json = { "content-type": "application/json", "prefer": "respond-async" }
const bigSize = 1_500_000

/** Observable state of a deploy in progress. */
interface View {
  readonly id: string
  readonly place: string
  readonly user: SshUser
  /** The steps as the API tells them, each with its status. */
  readonly steps: Effect.Effect<ReadonlyArray<string>, Error>
}

const seen = (holds: (view: View) => boolean) => (view: View): Effect.Effect<boolean> =>
  Effect.sync(() => {
    try {
      return holds(view)
    } catch {
      // It vanished while it was looked at.
      return false
    }
  })
const inPlace = (name: string, holds: (file: string) => boolean = existsSync) =>
  seen(({ place }) => holds(join(place, ".berth", name)))
const outcomeIs = (state: RegExp) =>
  seen(({ id, place }) => {
    const [run, said = ""] = readFileSync(join(place, ".berth/outcome"), "utf8").split("\t")
    return run === id && state.test(said)
  })
const works = (pattern: string) => ({ user }: View) => Effect.isSuccess(run("pgrep", ["-u", user.name, "-f", pattern]))
const stepIs = (step: RegExp) => ({ steps }: View) =>
  Effect.map(Effect.orElseSucceed(steps, () => []), (all) => all.some((each) => step.test(each)))

/** A moment of a deploy at which the service is killed, and what its run may end as. */
interface Moment {
  readonly when: (view: View) => Effect.Effect<boolean>
  readonly ends: RegExp
  readonly isIll?: boolean
}

const done = /^succeeded$/
const notBegun = /^interrupted$/
// Its input ends with the service, so it has loaded all of it or fails.
const loading = /^(succeeded|failed)$/

const moments: Readonly<Record<string, Moment>> = {
  "when it looks at the server": { when: stepIs(/^preflight/), ends: notBegun },
  "when it has the lock": { when: inPlace("holder", (file) => statSync(file).size > 0), ends: notBegun },
  "when it begins to upload": { when: inPlace("incoming"), ends: notBegun },
  "in the middle of a file": {
    when: inPlace("incoming/big.bin", (file) => existsSync(file) && statSync(file).size > bigSize / 3),
    ends: notBegun
  },
  "when the server begins": { when: outcomeIs(/^begun/), ends: loading },
  "when it loads the image": { when: works("^docker load$"), ends: loading },
  "when files are exchanged": {
    when: inPlace("previous", (directory) => readdirSync(directory).length > 0),
    ends: done
  },
  "when compose works": { when: works("compose -f compose.yml up -d"), ends: done },
  "when the stack was started": { when: outcomeIs(/^started/), ends: done },
  "when it waits for health": { when: stepIs(/^health running/), ends: done },
  "when it waits for the health of one that is ill": { when: stepIs(/^health running/), ends: done, isIll: true },
  "when the one before is started again": { when: stepIs(/^rollback running/), ends: done, isIll: true }
}

const composeOf = (image: string, isIll: boolean) =>
  `version: "3.8"
services:
  web:
    image: ${image}
    network_mode: none
    stop_signal: SIGKILL
    healthcheck: { test: ["CMD", "/bin/busybox", "${isIll ? "false" : "true"}"], interval: 300ms, retries: 1 }
`

const makeStage = Effect.gen(function*() {
  const sshd = yield* startSshd()
  const relay = yield* openRelay(sshd.port, { upBytesPerSecond: 4_000_000 })
  const user = yield* sshd.makeUser({ groups: ["docker"] })
  const name = yield* uniqueName("berth-killed")
  const project = join(yield* temporaryDirectory, name)
  const settingsFile = yield* settingsFileWith(stringify({
    deploy: { healthTimeout: "20 seconds", healthInterval: "200 millis" },
    servers: [{
      id: "main",
      name: "Main",
      host: "127.0.0.1",
      port: relay.port,
      username: user.name,
      password: user.password
    }]
  }))
  yield* Effect.promise(() => mkdir(project))
  yield* Effect.addFinalizer(() =>
    Effect.ignore(Effect.gen(function*() {
      const containers = lines(yield* docker("ps", "-aq", "--filter", `label=com.docker.compose.project=${name}`))
      if (containers.length > 0) yield* docker("rm", "-f", ...containers)
      yield* removeImages(name)
    }))
  )
  /** Makes the next version; answers its mark, which is also in its big file. */
  const version = (isIll = false) =>
    Effect.sync(() => {
      const { archive, mark } = runnableImage(name, randomBytes(800_000))
      writeFileSync(join(project, `${name}.tar`), archive)
      writeFileSync(join(project, "compose.yml"), composeOf(`${name}:latest`, isIll))
      writeFileSync(join(project, "big.bin"), Buffer.concat([Buffer.from(mark), randomBytes(bigSize)]))
      const config = { files: ["big.bin"], ...isIll ? { healthTimeout: "1500 millis" } : {} }
      writeFileSync(join(project, "container.json"), JSON.stringify(config))
      return mark
    })
  const place = join(user.home, "containers", name)
  const { uid } = statSync(user.home)
  return {
    settingsFile,
    user,
    name,
    place,
    version,
    target: { serverId: "main", remotePath: `~/containers/${name}` },
    projectPath: project,
    /** The mark of the version that is there: of its container, of the image's name, of its files. */
    stands: Effect.gen(function*() {
      const id = yield* docker("ps", "-q", "--filter", `label=com.docker.compose.project=${name}`)
      const label = `{{index .Config.Labels "${markLabel}"}}`
      const container = id === "" ? "nothing" : yield* docker("inspect", "--format", label, ...lines(id))
      const image = yield* docker("image", "inspect", "--format", label, `${name}:latest`)
      return [container, image, readFileSync(join(place, "big.bin"), "utf8").slice(0, container.length)]
    }),
    /** Leftovers that must not remain. */
    leftovers: Effect.gen(function*() {
      const notes = readdirSync(join(place, ".berth")).filter((each) =>
        /^(incoming|staged|previous|before|.*\.new)$/.test(each)
      )
      const released = readdirSync(join(place, ".berth/releases")).filter((each) => !/^(\d+|last)$/.test(each))
      const beside = readdirSync(join(user.home, "containers")).filter((each) => each !== name)
      const home = readdirSync(user.home).filter((each) => each.startsWith(".berth"))
      const locks = yield* Effect.filter(
        ["lock", "activation"],
        (each) => Effect.isFailure(run("flock", ["-n", join(place, ".berth", each), "true"]))
      )
      // Files of others may vanish meanwhile.
      const temporary = readdirSync("/tmp").filter((each) =>
        statSync(join("/tmp", each), { throwIfNoEntry: false })?.uid === uid
      )
      const names = lines(yield* docker("image", "ls", "--format", "{{.Repository}}:{{.Tag}}", "berth/kept"))
      return [...notes, ...released, ...beside, ...home, ...locks, ...temporary, ...names]
    })
  }
})

type Stage = Effect.Effect.Success<typeof makeStage>

const isEnded = ({ state }: Json) => !["queued", "running"].includes(String(state))
/** Asks until the answer is as it should be, for at most a minute and a half. */
const polled = <A, E, R>(what: Effect.Effect<A, E, R>, holds: (answer: A) => boolean) => {
  const asked: Effect.Effect<A, E, R> = Effect.flatMap(
    what,
    (answer) => holds(answer) ? Effect.succeed(answer) : Effect.zipRight(Effect.sleep("10 millis"), asked)
  )
  return Effect.timeout(asked, "90 seconds")
}

/** Starts a run, kills the service at a moment of it, and starts it again. */
const killedAt = <R>(
  stage: Stage,
  url: string,
  kill: Effect.Effect<void, never, R>,
  [path, body]: readonly [path: string, body: unknown],
  when: Moment["when"]
) =>
  Effect.gen(function*() {
    const before = yield* requestTo(url, json)("POST", path, body)
    const id = String(before.body["id"])
    const steps = Effect.map(
      requestTo(url, json)("GET", `/api/runs/${id}`),
      ({ body }): ReadonlyArray<string> =>
        JSON.parse(JSON.stringify(body["steps"])).map(({ status, step }: Json) => `${step} ${status}`)
    )
    const run = Effect.map(requestTo(url, json)("GET", `/api/runs/${id}`), ({ body }) => body)
    const isAt = when({ id, place: stage.place, user: stage.user, steps })
    // A machine that is busy with something else may be past it before anybody sees it.
    const isMissed = yield* polled(Effect.all([isAt, Effect.map(run, isEnded)]), (is) => is.includes(true)).pipe(
      Effect.map(([isAt]) => !isAt)
    )
    yield* kill
    return { id, isMissed }
  })

const endOf = (url: string, id: string) =>
  polled(Effect.map(requestTo(url, json)("GET", `/api/runs/${id}`), ({ body }) => body), isEnded).pipe(
    Effect.map((run) => ({
      state: String(run["state"]),
      said: JSON.stringify(run["error"] ?? run["result"]),
      success: String(run["result"]?.["success"]),
      // Steps that contradict the run's end: still running, or not done although it succeeded.
      open: JSON.parse(JSON.stringify(run["steps"])).filter(({ status }: Json) =>
        String(status) === "running" || (String(run["state"]) === "succeeded" && String(status) !== "done")
      )
    }))
  )

describe.skipIf(!realServer.available)(
  realServer.title("a service that is killed"),
  { timeout: 600_000 * patience },
  () => {
    it.scopedLive("at any moment of a deploy leaves all of the old version or all of the new, and tells which", () =>
      Effect.gen(function*() {
        const stage = yield* makeStage
        const deploy = { projectPath: stage.projectPath, ...stage.target }
        let berth = yield* startBerth(stage.settingsFile)
        const deployed = Effect.suspend(() =>
          requestTo(berth.url, { "content-type": "application/json" })("POST", "/api/container/deploy", deploy)
        )
        const killAndRestart = Effect.gen(function*() {
          yield* berth.kill("SIGKILL")
          yield* berth.ended
          berth = yield* startBerth(stage.settingsFile)
        })
        const missed: Array<string> = []
        let old = yield* stage.version()
        expect((yield* deployed).body).toMatchObject({ success: true, healthy: true })

        const all = Object.entries(moments)
        const tried = inPart(all, all.filter((_, index) => index % 4 === 3))
        for (const [moment, { ends, isIll = false, when }] of tried) {
          const mark = yield* stage.version(isIll)
          const { id, isMissed } = yield* killedAt(
            stage,
            berth.url,
            killAndRestart,
            ["/api/container/deploy", deploy],
            when
          )
          const { open, said, state, success } = yield* endOf(berth.url, id)
          if (isMissed) missed.push(moment)
          expect([moment, state, open]).toEqual([
            moment,
            expect.stringMatching(isIll ? /^failed$/ : isMissed ? done : ends),
            []
          ])
          const isNew = state === "succeeded" && success === "true"
          const is = isNew ? mark : old
          expect([moment, said, ...(yield* stage.stands)]).toEqual([moment, said, is, is, is])
          if (isIll) expect([moment, said]).toEqual([moment, expect.stringContaining("runs again and is healthy")])
          if (!isNew && !isIll) expect([moment, said]).toEqual([moment, expect.stringMatching(/runs on|still running/)])
          yield* polled(stage.leftovers, (left) => left.length === 0).pipe(
            Effect.catchTag("TimeoutException", () => stage.leftovers)
          )
          expect([moment, ...(yield* stage.leftovers)]).toEqual([moment])
          const notes = readdirSync(join(stage.place, ".berth/releases")).filter((each) => /^\d+$/.test(each))
          const own = notes.filter((each) =>
            readFileSync(join(stage.place, ".berth/releases", each, "note"), "utf8").includes(`run\t${id}\n`)
          )
          expect([moment, own.length]).toEqual([moment, isNew ? 1 : 0])

          old = isIll ? yield* stage.version() : mark
          const next = yield* deployed
          expect([moment, next.status, next.body["healthy"]]).toEqual([moment, 200, true])
          expect([moment, ...(yield* stage.stands)]).toEqual([moment, old, old, old])
        }
        expect(missed.length).toBeLessThanOrEqual(tried.length / 2)

        const actions = [
          [
            "restart",
            "compose -f compose.yml restart",
            /^Restarted .* while the service was started again: the stack is healthy/
          ],
          ["remove", "compose -f compose.yml down", /^Removed .* while the service was started again/]
        ] as const
        for (const [action, command, message] of actions) {
          const { id, isMissed } = yield* killedAt(
            stage,
            berth.url,
            killAndRestart,
            [`/api/container/${action}`, stage.target],
            works(command)
          )
          const { said, state } = yield* endOf(berth.url, id)
          expect([action, state]).toEqual([action, "succeeded"])
          if (!isMissed) expect(JSON.parse(said).message).toMatch(message)
        }
        expect(existsSync(join(stage.place, ".berth"))).toBe(false)
      }))
  }
)
