import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { deploy } from "../../../../src/pipelines/deploy/deploy.ts"
import { executeStackAction } from "../../../../src/pipelines/stacks.ts"
import { Runs } from "../../../../src/services/runs/Runs.ts"
import { berth, onServer, project, realServer } from "../../../fixtures/docker/realProject.ts"
import { patience } from "../../../fixtures/patience.ts"
import { inPart } from "../../../fixtures/thorough.ts"
import { eventually } from "../../../sandbox/eventually.ts"

const httpd = "httpd -f -p 8080 -h /www"
// Runs for a moment each time, so that most looks come between two crashes, and ends before its first health check.
const crashing = "/bin/busybox sleep 0.5; exit 7"
const command = (script: string) => `command: ${JSON.stringify(["/bin/sh", "-c", script])}`
const checked = (test: string) =>
  `healthcheck: { test: ["CMD", "/bin/busybox", ${JSON.stringify(test)}], interval: 1s, retries: 2 }`

/** Kinds of containers, and the verdict and state that a deploy of each comes to. */
const kinds: ReadonlyArray<readonly [string, ReadonlyArray<string>, RegExp, boolean]> = [
  ["without a health check", [], /the stack is healthy\./, true],
  ["whose health check passes", [checked("true")], /the stack is healthy\./, true],
  ["whose health check fails", [checked("false")], /web.1 is (?:unhealthy|starting)\./, false],
  ["that ended well", [command("exit 0")], /the stack is healthy\./, true],
  ["that ended badly", [command("exit 1")], /web.1 exited with code 1\./, false],
  [
    "in a crash loop",
    [command(crashing), "restart: always"],
    /web.1 is unhealthy \(\d+ restarts?, last exit code 7\)\.[^]*\n[^\n]*web.1 \((?:running|restarting)[^\n]*\d+ restarts?/,
    false
  ],
  [
    "in a crash loop with a health check",
    [command(crashing), "restart: always", checked("true")],
    /web.1 is unhealthy \(\d+ restarts?, last exit code 7\)\./,
    false
  ]
]

describe.skipIf(!realServer.available)(
  realServer.title("a deploy to a real Docker"),
  { timeout: 180_000 * patience },
  () => {
    it.scopedLive.each(inPart(kinds, kinds.filter((_, index) => index % 2 === 0 && index > 0)))(
      "of a container %s tells its state",
      ([, lines, told, isHealthy]) =>
        Effect.gen(function*() {
          const { server } = yield* onServer(false)
          const { build, compose, directory, name, usual } = yield* project
          const where = { serverId: server.id, remotePath: `~/containers/${name}` }
          yield* build("one")
          yield* compose([...usual, ...lines])
          yield* Effect.promise(() =>
            writeFile(join(directory, "container.json"), "{\"healthTimeout\": \"6 seconds\"}")
          )
          yield* Effect.gen(function*() {
            const result = yield* deploy({ projectPath: directory, ...where })
            expect(result).toMatchObject({ success: true, healthy: isHealthy })
            expect(result.message).toMatch(told)
            const [run] = (yield* (yield* Runs).list({ limit: 1 })).runs
            expect(run).toMatchObject({ state: isHealthy ? "succeeded" : "failed" })
            expect(run?.steps.at(-1)).toMatchObject({ step: "health", status: isHealthy ? "done" : "error" })
          }).pipe(Effect.provide(berth(server, { "deploy.healthInterval": Duration.millis(500) })))
        })
    )

    it.scopedLive("that is cancelled while it waits for health has the release before run again", () =>
      Effect.gen(function*() {
        const { server } = yield* onServer(false)
        const { answer, build, compose, directory, name, usual } = yield* project
        const request = { projectPath: directory, serverId: server.id, remotePath: `~/containers/${name}` }
        yield* build("one")
        yield* Effect.gen(function*() {
          yield* deploy(request)
          yield* build("two")
          yield* compose([...usual, command(httpd), checked("false")])
          const runs = yield* Runs
          const newest = Effect.map(runs.list({ limit: 1 }), (page) => page.runs[0])
          const deploying = yield* Effect.fork(Effect.exit(deploy(request)))
          yield* eventually(
            Effect.map(newest, (run) => run?.state === "running" && run.steps.at(-1)?.step === "health")
          )
          const id = (yield* newest)?.id ?? ""
          yield* runs.cancel(id)
          yield* Fiber.join(deploying)
          expect(yield* runs.await(id)).toMatchObject({
            state: "cancelled",
            error: { error: "The deploy was cancelled at health. Release 1 runs again and is healthy" }
          })
          expect(yield* answer).toBe("one")
        }).pipe(Effect.provide(berth(server)))
      }))

    it.scopedLive("that crashes holds up no other stack of the server", () =>
      Effect.gen(function*() {
        const { server } = yield* onServer(false)
        const [blog, shop] = [yield* project, yield* project]
        const placeOf = ({ name }: typeof blog) => ({ serverId: server.id, remotePath: `~/containers/${name}` })
        yield* blog.build("blog")
        yield* shop.build("shop")
        yield* shop.compose([...shop.usual, command(crashing), "restart: always"])
        yield* Effect.gen(function*() {
          yield* deploy({ projectPath: blog.directory, ...placeOf(blog) })
          const crashes = yield* Effect.fork(deploy({ projectPath: shop.directory, ...placeOf(shop) }))
          const runs = yield* Runs
          yield* eventually(Effect.map(
            runs.list({ limit: 1 }),
            ({ runs: [run] }) => run?.state === "running" && run.steps.some(({ step }) => step === "health")
          ))
          const [took, restarted] = yield* Effect.timed(executeStackAction("restart", placeOf(blog)))
          expect(restarted).toMatchObject({ success: true, status: "healthy" })
          expect(Duration.toSeconds(took)).toBeLessThan(15 * patience)
          expect(yield* Fiber.poll(crashes)).toMatchObject({ _tag: "None" })
          expect(yield* Fiber.join(crashes)).toMatchObject({ healthy: false })
        }).pipe(Effect.provide(berth(server, { "deploy.healthTimeout": Duration.seconds(30) })))
      }))
  }
)
