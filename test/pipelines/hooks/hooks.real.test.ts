import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { planContainers } from "../../../src/pipelines/deploy/plan.ts"
import { Runs } from "../../../src/services/runs/Runs.ts"
import { docker } from "../../fixtures/docker/docker.ts"
import { berth, onServer, project, realServer } from "../../fixtures/docker/realProject.ts"
import { patience } from "../../fixtures/patience.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"
import { eventually } from "../../sandbox/eventually.ts"

const inContainer = (line: string) => ["/bin/busybox", "sh", "-c", line]

/** A project that is deployed once, and can declare hooks. */
const world = Effect.gen(function*() {
  const { server } = yield* onServer(true)
  const made = yield* project
  const declare = (hooks: object, more: object = {}) =>
    Effect.sync(() => writeFileSync(join(made.directory, "container.json"), JSON.stringify({ hooks, ...more })))
  const request = { projectPath: made.directory, serverId: server.id, remotePath: `~/containers/${made.name}` }
  const containers = docker("ps", "-aq", "--no-trunc", "--filter", `name=${made.name}`)
  const oneOff = docker("ps", "-aq", "--filter", `label=berth.hook`, "--filter", `ancestor=${made.image}`)
  return { ...made, containers, declare, layer: berth(server), oneOff, request }
})

describe.skipIf(!realServer.available)(realServer.title("hooks of a deploy"), { timeout: 300_000 * patience }, () => {
  it.scopedLive("run around it, and one before the start that fails leaves what runs alone", () =>
    Effect.gen(function*() {
      const { answer, build, containers, declare, layer, oneOff, request } = yield* world
      const notes = join(yield* temporaryDirectory, "notes")
      const note = (word: string) => ["sh", "-c", "echo \"$1 $BERTH_SERVER $BERTH_HOOK\" >>\"$2\"", "sh", word, notes]
      yield* Effect.gen(function*() {
        yield* build("one")
        yield* declare({
          beforeDeploy: [note("first"), note("second")],
          beforeStart: {
            service: "web",
            command: inContainer("echo \"migrated $BERTH_HOOK\"; [ \"$0\" = 'a b' ]").concat("a b")
          },
          afterDeploy: [note("third")]
        })
        const plan = yield* planContainers(request)
        expect(plan.hooks?.map(({ when }) => when)).toEqual([
          "beforeDeploy",
          "beforeDeploy",
          "beforeStart",
          "afterDeploy"
        ])
        expect(yield* deploy({ ...request, planHash: plan.planHash })).toMatchObject({ success: true, healthy: true })
        expect(readFileSync(notes, "utf8")).toBe(
          "first Main beforeDeploy\nsecond Main beforeDeploy\nthird Main afterDeploy\n"
        )
        const before = yield* containers
        expect(yield* oneOff).toBe("")

        yield* build("two")
        yield* declare({ beforeStart: { service: "web", command: inContainer("echo no such table; exit 4") } })
        const failed = yield* Effect.flip(deploy(request))
        expect(failed.message).toMatch(
          /^Deploy failed at beforeStart: [^]*no such table[^]*The previous version is still running/
        )
        expect([yield* containers, yield* oneOff]).toEqual([before, ""])
        expect(yield* answer).toBe("one")

        // A plan binds the commands.
        const bound = yield* planContainers(request)
        yield* declare({ beforeStart: { service: "web", command: inContainer("true") } })
        const moved = yield* Effect.flip(deploy({ ...request, planHash: bound.planHash }))
        expect(moved.message).toContain("a command of \"hooks\"")
        expect(yield* deploy(request)).toMatchObject({ healthy: true })
      }).pipe(Effect.provide(layer))
      expect(yield* answer).toBe("two")
    }))

  it.scopedLive("bring the release before back when the one after it fails, and end with their time and their run", () =>
    Effect.gen(function*() {
      const { answer, build, containers, declare, directory, layer, oneOff, request } = yield* world
      yield* Effect.gen(function*() {
        yield* build("one")
        yield* deploy(request)
        yield* build("two")
        yield* declare({ afterDeploy: [["sh", "-c", "echo it is broken; exit 3"]] })
        const rolledBack = yield* deploy(request)
        expect(rolledBack).toMatchObject({ success: false, healthy: false })
        expect(rolledBack.message).toContain("the hook afterDeploy failed: sh ended with exit code 3: it is broken")
        expect(yield* answer).toBe("one")

        const before = yield* containers
        yield* declare({ timeout: "2 seconds", beforeStart: { service: "web", command: inContainer("sleep 600") } })
        const late = yield* Effect.flip(deploy(request))
        expect(late.message).toContain("it was stopped after 2 s (hooks.timeout in container.json)")

        yield* declare({ beforeDeploy: [["sh", "-c", "sleep 600"]], timeout: "1 second" })
        const never = yield* Effect.flip(deploy(request))
        expect(never.message).toContain("Deploy failed at beforeDeploy: sh was stopped after 1s")
        expect(never.message).toContain("Nothing on the server was changed")

        yield* declare({ beforeStart: { service: "web", command: inContainer("sleep 600") } })
        const going = yield* Effect.fork(Effect.either(deploy(request)))
        yield* eventually(Effect.map(oneOff, (found) => found !== ""))
        const { cancel, list } = yield* Runs
        const { runs: [run] } = yield* list({ state: "running" })
        yield* cancel(run?.id ?? "")
        yield* Fiber.join(going)
        yield* eventually(Effect.map(oneOff, (found) => found === ""))
        expect(yield* containers).toBe(before)
        expect(existsSync(join(directory, "container.json"))).toBe(true)
      }).pipe(Effect.provide(layer))
      expect(yield* answer).toBe("one")
    }))
})
