import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, Fiber } from "effect"
import { randomBytes } from "node:crypto"
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { insertRoute } from "../../src/pipelines/routes/editRoutes.ts"
import { docker, realDocker } from "../fixtures/docker/docker.ts"
import type { ImageOptions } from "../fixtures/docker/runnableImage.ts"
import { leftovers, realSsh, run } from "../fixtures/network/openssh.ts"
import { patience } from "../fixtures/patience.ts"
import { programDirectory, rootsPrograms } from "../fixtures/programs/rootsPrograms.ts"
import type { Reply } from "../fixtures/programs/service.ts"
import { type FaultStage, type FaultStageOptions, isFree, makeFaultStage, until } from "../fixtures/runs/faultStage.ts"
import { plainFile } from "../pipelines/routes/proxyFiles.ts"

/** Fault of a connection, and its remedy. */
interface Fault {
  readonly name: string
  readonly strike: (stage: FaultStage) => Effect.Effect<void>
  readonly mend: (stage: FaultStage) => Effect.Effect<void>
  /** The reason that the service gives. */
  readonly reason: string
}

const cut: Fault = {
  name: "cut",
  strike: ({ relay }) => relay.cut,
  mend: () => Effect.void,
  reason: "the server (closed|reset) the connection"
}

const faults: ReadonlyArray<Fault> = [
  {
    name: "frozen",
    strike: ({ relay }) => relay.freeze,
    mend: ({ relay }) => relay.thaw,
    reason: "it stopped answering"
  },
  cut,
  {
    name: "killed with its server",
    strike: ({ sshd }) => sshd.kill,
    mend: ({ sshd }) => sshd.restart,
    reason: "the server (closed|reset) the connection"
  }
]

/** The server's own end of the connection hangs, and never gets on. */
const stopped: Fault = {
  name: "stopped",
  strike: ({ user }) => Effect.asVoid(Effect.orDie(run("pkill", ["-STOP", "-u", user.name, "-x", "sshd"]))),
  mend: () => Effect.void,
  reason: "it stopped answering"
}

const lost = ({ reason }: Fault) => `The connection to "Main" \\(127\\.0\\.0\\.1:\\d+\\) was lost: ${reason}`

/** Strikes in the middle of a request, and answers what it says; one that hangs is a failure. */
const struckAmid = (
  stage: FaultStage,
  fault: Fault,
  request: Effect.Effect<Reply>,
  middle: Effect.Effect<boolean>,
  afterwards: Effect.Effect<void> = Effect.void
) =>
  Effect.gen(function*() {
    const asked = yield* Effect.fork(request)
    yield* until("the middle of it", middle)
    expect(asked.unsafePoll()).toBeNull()
    yield* fault.strike(stage)
    yield* afterwards
    return yield* Fiber.join(asked).pipe(
      Effect.timeoutFail({ duration: `${60 * patience} seconds`, onTimeout: () => new Error("the request hangs") })
    )
  })

const locksAreFree = ({ place }: FaultStage) =>
  Effect.map(
    Effect.forEach(["lock", "activation"], (name) => isFree(join(place, ".berth", name))),
    (all) => all.every((free) => free)
  )

/** A stage on which a first version runs. */
const deployed = (options?: FaultStageOptions) =>
  Effect.gen(function*() {
    const stage = yield* makeFaultStage(options)
    yield* stage.build()
    expect((yield* stage.deploy).body).toMatchObject({ success: true, healthy: true })
    const before = yield* stage.running
    expect(before).toContain(" true ")
    return { ...stage, before }
  })

/** After a broken deploy: the old version runs on, nothing is locked for good, and the next deploy goes through. */
const recovers = (stage: FaultStage & { readonly before: string }, fault: Fault, mark: string) =>
  Effect.gen(function*() {
    expect(yield* stage.running).toBe(stage.before)
    yield* fault.mend(stage)
    const again = yield* stage.deploy.pipe(
      Effect.timeoutFail({ duration: `${90 * patience} seconds`, onTimeout: () => new Error("the next deploy hangs") })
    )
    expect(again.body).toMatchObject({ success: true, healthy: true })
    expect(yield* stage.running).toContain(mark)
    yield* until("the locks are free", locksAreFree(stage))
    expect(readdirSync(join(stage.place, ".berth"))).not.toContain("incoming")
    expect(readdirSync(join(stage.place, ".berth"))).not.toContain("staged")
    yield* until("no password program is left", Effect.map(leftovers(stage.user), (names) => names.length === 0))
  })

const uploads = (fault: Fault) =>
  Effect.gen(function*() {
    const stage = yield* deployed()
    const size = 20_000_000
    writeFileSync(join(stage.project, "big.bin"), randomBytes(size))
    writeFileSync(join(stage.project, "container.json"), JSON.stringify({ files: ["big.bin"] }))
    const mark = yield* stage.build()
    yield* stage.relay.holdAfter(4_000_000)
    const incoming = join(stage.place, ".berth", "incoming", "big.bin")
    const middle = Effect.map(
      stage.relay.isHolding,
      (holding) => holding && existsSync(incoming) && statSync(incoming).size > 1_000_000
    )
    const reply = yield* struckAmid(stage, fault, stage.deploy, middle)
    expect(reply.status).toBe(500)
    expect(reply.body).toEqual({
      error: expect.stringMatching(
        new RegExp(`^Deploy failed at upload: ${lost(fault)}. Nothing on the server was changed$`)
      )
    })
    expect(existsSync(join(stage.place, "big.bin"))).toBe(false)
    yield* recovers(stage, fault, mark)
    expect(statSync(join(stage.place, "big.bin")).size).toBe(size)
  })

const loads = (fault: Fault, image: ImageOptions = {}) =>
  Effect.gen(function*() {
    const stage = yield* deployed()
    const mark = yield* stage.build(20_000_000, image)
    yield* stage.relay.holdAfter(4_000_000)
    const begun = () => existsSync(join(stage.place, ".berth", "staged"))
    const middle = Effect.map(stage.relay.isHolding, (holding) => holding && begun())
    const reply = yield* struckAmid(stage, fault, stage.deploy, middle)
    expect(reply.status).toBe(500)
    expect(reply.body).toEqual({
      error: expect.stringMatching(
        new RegExp(
          `^Deploy failed at load: ${
            lost(fault)
          }. What runs there now is unknown: the server finishes the deploy or undoes it by itself$`
        )
      )
    })
    yield* recovers(stage, fault, mark)
  })

/** A program that says that it runs and waits, the first time, until it is let go or its directory is gone. */
const waitsOnce = (when: string, what: string) =>
  `here=$(dirname "$0")
if ${when} && [ ! -e "$here/begun" ]; then
  : >"$here/begun"
  while [ -e "$here/begun" ] && [ ! -e "$here/go" ]; do sleep 0.05; done
fi
${what}`

/** A stage on which a container runs that no deploy started. */
const occupied = (options?: FaultStageOptions) =>
  Effect.gen(function*() {
    const stage = yield* makeFaultStage(options)
    yield* stage.build()
    yield* docker("load", "-q", "-i", join(stage.project, `${stage.name}.tar`))
    const label = `com.docker.compose.project=${stage.name}`
    yield* docker("run", "-d", "--network", "none", "--label", label, `${stage.name}:latest`)
    return { ...stage, before: yield* stage.running }
  })

const commands = (fault: Fault) =>
  Effect.gen(function*() {
    const stage = yield* occupied()
    const programs = yield* rootsPrograms(stage.user, {
      docker: waitsOnce("[ \"$1\" = ps ]", "exec /usr/bin/docker \"$@\"")
    })
    const containers = stage.request("GET", "/api/servers/main/containers")
    const middle = Effect.sync(() => existsSync(join(programs, "begun")))
    const reply = yield* struckAmid(stage, fault, containers, middle)
    expect(reply.status).toBe(500)
    expect(reply.body).toEqual({
      error: expect.stringMatching(new RegExp(`^Failed to get containers: ${lost(fault)}$`))
    })
    expect(yield* stage.running).toBe(stage.before)
    yield* fault.mend(stage)
    expect((yield* containers).body).toMatchObject({ success: true })
  })

const routes = (fault: Fault) =>
  Effect.gen(function*() {
    const stage = yield* occupied({ proxyText: plainFile })
    const read = () => readFileSync(stage.proxyFile, "utf8")
    const programs = yield* rootsPrograms(stage.user, {
      tee: `case $1 in
  *.berth-bak) exec /usr/bin/tee "$@" ;;
esac
if [ ! -e "$(dirname "$0")/begun" ]; then head -c 100 >"$1"; else exec /usr/bin/tee "$@"; fi
${waitsOnce("true", "exec cat >>\"$1\"")}`
    })
    const route = { routeName: "app", domain: "app.example.com", port: 2007 }
    const edited = Either.getOrThrow(insertRoute(plainFile, { ...route, targetIp: "10.0.0.5" }))
    const reply = yield* struckAmid(
      stage,
      fault,
      stage.request("POST", "/api/platform/routes", route),
      Effect.sync(() => existsSync(join(programs, "begun"))),
      Effect.sync(() => {
        expect(read()).toBe(plainFile.slice(0, 100))
        writeFileSync(join(programs, "go"), "")
      })
    )
    expect(reply.status).toBe(502)
    expect(reply.body).toEqual({
      error: expect.stringMatching(
        new RegExp(`^The proxy file ${stage.proxyFile} on "Main" .*${lost(fault)}\\. .*before, or the whole new text$`)
      )
    })
    yield* until("the proxy file is whole", Effect.sync(() => read().length > 100))
    yield* until("the lock is free", isFree("/"))
    expect([plainFile, edited._tag === "Edited" ? edited.text : ""]).toContain(read())
    expect(yield* stage.running).toBe(stage.before)
    yield* fault.mend(stage)
    const other = { routeName: "other", domain: "other.example.com", port: 2008 }
    expect((yield* stage.request("POST", "/api/platform/routes", other)).body).toEqual({ added: true })
    expect(read()).toContain("other.example.com")
    yield* until("no copy is left", Effect.map(leftovers(stage.user), (names) => names.length === 0))
  })

/** Late effects of an interrupted deploy on the server do not reach the next one. */
const endsLate = Effect.gen(function*() {
  const stage = yield* deployed()
  const compose = (text: string) => writeFileSync(join(stage.project, "compose.yml"), text)
  const first = readFileSync(join(stage.project, "compose.yml"), "utf8")
  const programs = yield* rootsPrograms(stage.user, {
    docker: waitsOnce(
      "[ \"$1\" = load ]",
      "[ \"$1\" != load ] || [ -e \"$here/late\" ] || { : >\"$here/late\"; exit 1; }\n" +
        "exec /usr/bin/docker \"$@\""
    )
  })
  yield* stage.build()
  compose(`${first}# cut off\n`)
  const reply = yield* struckAmid(stage, cut, stage.deploy, Effect.sync(() => existsSync(join(programs, "begun"))))
  expect(reply.status).toBe(500)
  compose(`${first}# wanted\n`)
  const wanted = yield* Effect.fork(stage.deploy)
  yield* Effect.sleep("8 seconds")
  writeFileSync(join(programs, "go"), "")
  expect((yield* Fiber.join(wanted)).body).toMatchObject({ success: true, healthy: true })
  expect(readFileSync(join(stage.place, "compose.yml"), "utf8")).toBe(`${first}# wanted\n`)
})

/** A line that takes longer for what is under way than a dead one would be given. */
const slowLine = Effect.gen(function*() {
  const stage = yield* makeFaultStage({ upBytesPerSecond: 200_000 })
  yield* stage.build()
  const archive = join(stage.project, `${stage.name}.tar`)
  yield* docker("load", "-q", "-i", archive)
  rmSync(archive)
  const files = ["one", "two", "three"]
  for (const file of files) writeFileSync(join(stage.project, file), randomBytes(2_000_000))
  writeFileSync(join(stage.project, "container.json"), JSON.stringify({ files }))
  expect((yield* stage.deploy).body).toMatchObject({
    success: true,
    healthy: true,
    uploadedFiles: ["compose.yml", ...files]
  })
})

/** A server that gives the holder of a lock half a minute, in place of three, to say something. */
const signsOfLife = Effect.gen(function*() {
  const programs = yield* programDirectory({
    timeout: "[ \"$1\" != 180 ] || { shift; set -- 30 \"$@\"; }\nexec /usr/bin/timeout \"$@\""
  })
  const stage = yield* makeFaultStage({ sshd: [`SetEnv PATH=${programs}:/usr/bin:/bin`] })
  yield* stage.build()
  const root = yield* rootsPrograms(stage.user, {
    docker: waitsOnce("[ \"$1\" = load ]", "exec /usr/bin/docker \"$@\"")
  })
  const deploy = yield* Effect.fork(stage.deploy)
  yield* until("the load has begun", Effect.sync(() => existsSync(join(root, "begun"))))
  yield* Effect.sleep("40 seconds")
  expect(yield* isFree(join(stage.place, ".berth", "lock"))).toBe(false)
  writeFileSync(join(root, "go"), "")
  expect((yield* Fiber.join(deploy)).body).toMatchObject({ success: true, healthy: true })
})

const available = realSsh.available && realDocker.available
const title = realSsh.title(realDocker.title("a connection to a real server"))

describe.skipIf(!available)(title, { concurrent: true, timeout: 240_000 * patience }, () => {
  it.scopedLive("that is slow, but not dead, carries an upload", () => slowLine)
  it.scopedLive("keeps a deploy's lock for as long as it is alive", () => signsOfLife)
  it.scopedLive("cut in the middle of a load that ends late leaves nothing of it in the next deploy", () => endsLate)
  it.scopedLive("stopped in the middle of a load of missing layers", () => loads(stopped))
  for (const fault of faults) {
    it.scopedLive(`${fault.name} in the middle of an upload`, () => uploads(fault))
    it.scopedLive(`${fault.name} in the middle of a load of missing layers`, () => loads(fault))
    it.scopedLive(`${fault.name} in the middle of a load of a whole archive`, () => loads(fault, { own: fault.name }))
    it.scopedLive(`${fault.name} in the middle of a command`, () => commands(fault))
    it.scopedLive(`${fault.name} in the middle of a write of the proxy file`, () => routes(fault))
  }
})
