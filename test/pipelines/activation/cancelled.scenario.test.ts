import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { randomBytes } from "node:crypto"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { executeStackAction } from "../../../src/pipelines/stacks.ts"
import type { StackAction } from "../../../src/schema/stacks.ts"
import { Runs } from "../../../src/services/runs/Runs.ts"
import { scene } from "../../fixtures/docker/deployScene.ts"
import { patience } from "../../fixtures/patience.ts"
import { eventually } from "../../sandbox/eventually.ts"

const well = `services:\n  web:\n    image: shop:latest\n    env_file: [.env]\n`
/** Its container ends at once. */
const ill = `${well}    command: ["sh", "-c", "exit 3"]\n`
const remotePath = "~/containers/shop"

const staged = Effect.gen(function*() {
  const stage = yield* scene({ settings: { "deploy.healthInterval": Duration.millis(100) } })
  const write = (name: string, text: string) => writeFileSync(join(stage.directory, name), text)
  const [hold, begun] = [join(stage.home, "hold"), join(stage.home, "begun")]
  // Commands named in the file `hold` block while it exists.
  const held = (program: string) =>
    stage.program(
      program,
      `if [ -s '${hold}' ]; then
  case "${program} $*" in *"$(cat '${hold}')"*) : >'${begun}'; while [ -e '${hold}' ]; do sleep 0.02; done ;; esac
fi
exec ${program === "docker" ? "\"$STAND_INS/docker\"" : "/usr/bin/openssl"} "$@"`
    )
  yield* held("docker")
  yield* held("openssl")
  const runs = yield* Effect.provide(Runs, stage.berth)
  const newest = Effect.map(runs.list({ limit: 1 }), (page) => page.runs[0])

  /** Starts something, cancels it once it is in a step, and answers its run when it has ended. */
  const cancelledAt = <A, E>(program: Effect.Effect<A, E>, step: string, blocked: string) =>
    Effect.gen(function*() {
      const last = (yield* newest)?.id
      if (blocked !== "") writeFileSync(hold, blocked)
      const fiber = yield* Effect.fork(Effect.exit(program))
      const isAt = Effect.map(newest, (run) =>
        run !== undefined && run.id !== last &&
        run.steps.some((each) => each.step === step && each.status === "running") &&
        (blocked === "" || existsSync(begun)))
      yield* eventually(isAt)
      const id = (yield* newest)?.id ?? ""
      const cancelling = yield* Effect.fork(runs.cancel(id))
      yield* Effect.sleep("100 millis")
      rmSync(hold, { force: true })
      rmSync(begun, { force: true })
      yield* Fiber.join(cancelling)
      yield* Fiber.join(fiber)
      return yield* runs.await(id)
    })
  const version = (name: string, compose: string) =>
    Effect.gen(function*() {
      write("compose.yml", `${compose}# ${name}\n`)
      write("container.json", "{}")
      write(".env", `VERSION=${name}\n`)
      yield* stage.bring(stage.archive(name))
    })
  const image = stage.docker("inspect", "--format", "{{.Image}} {{.State.Status}}", "shop-web-1")
  return {
    ...stage,
    cancelledAt,
    image,
    version,
    deployed: Effect.scoped(stage.deployed),
    read: (name: string) => readFileSync(join(stage.remote, name), "utf8"),
    does: (action: StackAction) =>
      Effect.provide(executeStackAction(action, { serverId: "1", remotePath }), stage.berth)
  }
})

const again = /^The (?:deploy|rollback) was cancelled at \w+\. Release \d+ runs again and is healthy$/
const untouched = /^The (?:deploy|rollback) was cancelled at \w+\. What ran before was not touched$/
const still = /^The deploy was cancelled at load\. The previous version is still running$/

/** A step of a deploy, the command that blocks in it, and the reported state. */
const deploySteps = [
  ["preflight", "docker image ls", well, untouched],
  ["upload", "openssl dgst", well, untouched],
  ["load", "docker load", well, new RegExp(`${again.source}|${still.source}`)],
  ["start", " up -d", well, again],
  ["health", "", ill, again],
  ["rollback", "", ill, again]
] as const

describe.skipIf(process.platform === "win32")("a deploy that is cancelled", () => {
  it.scopedLive.each(deploySteps)(
    "at %s leaves what ran before, or has it run again",
    ([step, blocked, compose, told]) =>
      Effect.gen(function*() {
        const stage = yield* staged
        yield* stage.version("one", well)
        yield* stage.deployed
        const before = yield* stage.image
        yield* stage.version("two", compose)
        if (step === "rollback") {
          writeFileSync(join(stage.directory, "container.json"), JSON.stringify({ healthTimeout: "300 millis" }))
        }
        const run = yield* stage.cancelledAt(stage.deployed, step, blocked)
        expect(run).toMatchObject({ state: "cancelled", result: null, error: { status: 409 } })
        expect(run.error?.error).toMatch(told)
        expect(run.error?.error).toContain(`cancelled at ${step}`)
        expect(run.steps.filter(({ status }) => status === "running")).toEqual([])
        expect(yield* stage.image).toBe(before)
        expect(stage.read("compose.yml") + stage.read(".env")).toBe(`${well}# one\nVERSION=one\n`)
        expect((yield* stage.releases).map(({ current, id }) => [id, current])).toEqual([["1", true]])
        // The next deploy finds nothing in its way.
        yield* stage.version("three", well)
        expect(yield* stage.deployed).toMatchObject({ healthy: true })
      }),
    60_000 * patience
  )

  it.scopedLive("at health stays where nothing ran before, and says so", () =>
    Effect.gen(function*() {
      const stage = yield* staged
      yield* stage.version("one", ill)
      const run = yield* stage.cancelledAt(stage.deployed, "health", "")
      expect(run).toMatchObject({
        state: "cancelled",
        error: {
          error: "The deploy was cancelled at health. No release ran before, so the new version is left as it is"
        }
      })
      expect(run.steps.at(-1)).toMatchObject({ step: "rollback", status: "skipped" })
    }), 60_000 * patience)

  it.scopedLive("while it sends an image is cut off, and the server undoes it", () =>
    Effect.gen(function*() {
      const stage = yield* staged
      yield* stage.version("one", well)
      yield* stage.deployed
      const before = yield* stage.image
      yield* stage.version("two", well)
      // More than what a connection takes without being read, also when it is compressed.
      yield* stage.bring(stage.archive("two", {
        layers: [{ app: randomBytes(18_000_000).toString("base64") }]
      }))
      const run = yield* stage.cancelledAt(stage.deployed, "load", "docker load")
      expect(run.error?.error).toMatch(still)
      expect([yield* stage.image, stage.read("compose.yml")]).toEqual([before, `${well}# one\n`])
    }), 60_000 * patience)

  it.scopedLive("while it loads never begins its hook", () =>
    Effect.gen(function*() {
      const stage = yield* staged
      yield* stage.version("one", well)
      yield* stage.deployed
      const before = yield* stage.image
      yield* stage.version("two", well)
      const hooks = { beforeStart: { service: "web", command: ["migrate"] } }
      writeFileSync(join(stage.directory, "container.json"), JSON.stringify({ hooks }))
      const run = yield* stage.cancelledAt(stage.deployed, "load", "docker load")
      expect(run.error?.error).toMatch(still)
      expect(stage.read(".berth/stop")).toBe(`${run.id}\n`)
      expect(yield* stage.image).toBe(before)
    }), 60_000 * patience)
})

const rollbackSteps = [
  ["preflight", "docker ", untouched],
  ["load", "docker tag", again],
  ["start", " up -d", again],
  ["health", "", again]
] as const

describe.skipIf(process.platform === "win32")("a rollback that is cancelled", () => {
  it.scopedLive.each(rollbackSteps)(
    "at %s leaves what ran before, or has it run again",
    ([step, blocked, told]) =>
      Effect.gen(function*() {
        const stage = yield* staged
        // Restoring takes longer than the time-out.
        yield* stage.version("one", step === "health" ? ill : well)
        writeFileSync(join(stage.directory, "container.json"), JSON.stringify({ healthTimeout: "2 seconds" }))
        yield* stage.deployedWith({ onUnhealthy: "keep" })
        yield* stage.version("two", well)
        yield* stage.deployed
        const before = yield* stage.image
        const run = yield* stage.cancelledAt(stage.rolledBack("1"), step, blocked)
        expect(run).toMatchObject({ kind: "rollback", state: "cancelled" })
        expect(run.error?.error).toMatch(told)
        expect(run.error?.error).toContain(`cancelled at ${step}`)
        expect(yield* stage.image).toBe(before)
        expect(stage.read("compose.yml") + stage.read(".env")).toBe(`${well}# two\nVERSION=two\n`)
        expect((yield* stage.releases).map(({ current, id }) => [id, current])).toEqual([["2", true], ["1", false]])
      }),
    60_000 * patience
  )
})

/** A stack action, its step, the command that blocks in it, and the reported state. */
const stackSteps = [
  ["stop", "stop", " stop", "Its container does not run now", "exited"],
  ["start", "start", " up -d", "Its container runs now", "running"],
  ["restart", "restart", " restart", "Its container runs now", "running"],
  ["remove", "remove", " down", "The stack is gone", ""],
  ["restart", "preflight", "docker version", "Nothing was changed", "running"]
] as const

describe.skipIf(process.platform === "win32")("what is done to a stack and cancelled", () => {
  it.scopedLive.each(stackSteps)(
    "%s at %s comes to its end first, and says what runs then",
    ([action, step, blocked, told, status]) =>
      Effect.gen(function*() {
        const stage = yield* staged
        yield* stage.version("one", well)
        yield* stage.deployed
        if (action === "start") yield* stage.does("stop")
        const run = yield* stage.cancelledAt(stage.does(action), step, blocked)
        expect(run).toMatchObject({ kind: "stack", state: "cancelled" })
        expect(run.error?.error).toBe(`The action on the stack was cancelled at ${step}. ${told}`)
        expect((yield* stage.docker("ps", "-a", "--format", "{{.State}}")).trim()).toBe(status)
      }),
    60_000 * patience
  )
})
