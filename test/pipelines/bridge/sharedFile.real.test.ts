import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Either, Fiber, Schedule } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import * as edit from "../../../src/pipelines/routes/editRoutes.ts"
import { addRoute } from "../../../src/pipelines/routes/routes.ts"
import { followingProxy, requestsTo } from "../../fixtures/docker/followingProxy.ts"
import { berth, onServer, project, realServer } from "../../fixtures/docker/realProject.ts"
import { patience } from "../../fixtures/patience.ts"
import { rootsDirectory } from "../../fixtures/programs/rootsPrograms.ts"

const names = ["one", "two"] as const
const hostOf = (name: string) => `${name}.example.com`

const routerOf = (name: string) =>
  `    ${name}:
      rule: "Host(\`${hostOf(name)}\`)"
      service: ${name}
`
const serviceOf = (name: string, port: number) =>
  `    ${name}:
      loadBalancer:
        servers:
          - url: "http://127.0.0.1:${port}"
`
const added = { routeName: "later", domain: "later.example.com", port: 2999 }

// The proxy runs in this process, which may lag behind its file on a busy machine.
describe.skipIf(!realServer.available)(
  realServer.title("two bridged redeploys of one proxy file"),
  { timeout: 300_000 * patience },
  () => {
    it.scopedLive("go on at once, fail no request, and keep what others write meanwhile", () =>
      Effect.gen(function*() {
        const { server } = yield* onServer(true)
        const projects = yield* Effect.forEach(
          names,
          (name) => Effect.map(project, (made) => ({ ...made, route: name }))
        )
        const file = join(yield* rootsDirectory, "proxy.yml")
        const text = `http:\n  routers:\n${names.map(routerOf).join("")}  services:\n` +
          projects.map(({ port, route }) => serviceOf(route, port)).join("")
        writeFileSync(file, text)
        const now = () => readFileSync(file, "utf8")
        const untilFile = (holds: (text: string) => boolean) =>
          Effect.sync(() => holds(now())).pipe(
            Effect.repeat({ until: (is) => is, schedule: Schedule.spaced("20 millis") }),
            Effect.timeout("100 seconds")
          )
        const deployed = Effect.forEach(
          projects,
          ({ directory, name }) =>
            deploy({ projectPath: directory, serverId: server.id, remotePath: `~/containers/${name}` }),
          { concurrency: 2 }
        )
        const built = (version: string) => Effect.forEach(projects, ({ build }) => build(version))
        yield* built("before")
        yield* Effect.gen(function*() {
          yield* deployed
          for (const { directory } of projects) {
            writeFileSync(join(directory, "container.json"), JSON.stringify({ bridged: ["web"] }))
          }
          yield* built("after")
          const proxy = yield* followingProxy(file, 300)
          const loads = yield* Effect.forEach(names, (name) => requestsTo(proxy.port, hostOf(name), 30))
          const both = yield* Effect.fork(deployed)
          const together = yield* Effect.fork(untilFile((text) => (text.match(/:30\d{3}"/g) ?? []).length === 2))
          // In the middle of a write the file is shorter: what a service leads to counts, not what is missing.
          const findBridged = (text: string) =>
            projects.find(({ route }) =>
              new RegExp(`\\n    ${route}:\\n(?: {6,}.*\\n)*? +- url: ".*:30\\d{3}"\\n(?! +- url)`).test(text)
            )
          yield* untilFile((text) => findBridged(text) !== undefined)
          const { port, route } = findBridged(now()) ?? { port: 0, route: "none" }
          const refusal = yield* Effect.flip(addRoute({ routeName: route, domain: hostOf(route), port }))
          expect([refusal._tag, refusal.message]).toEqual(["RouteBridged", expect.stringContaining(route)])
          expect(yield* addRoute(added)).toMatchObject({ added: true })
          // Neither has waited for the end of the other.
          yield* Fiber.join(together)
          for (const { message, success } of yield* Fiber.join(both)) {
            expect(success, message).toBe(true)
            expect(message).toContain("A bridge took the requests of web meanwhile.")
          }
          for (const load of loads) {
            const report = yield* load.report
            expect(report.failed).toEqual([])
            expect(report.answers).toEqual(new Set(["before", "after"]))
          }
        }).pipe(Effect.provide(berth(server, {
          "proxy.configFile": file,
          "proxy.targetIp": "127.0.0.1",
          "proxy.settle": Duration.seconds(3)
        })))
        const wanted = Either.getOrThrow(edit.insertRoute(text, { ...added, targetIp: "127.0.0.1" }))
        expect(now()).toBe(wanted._tag === "Edited" ? wanted.text : "")
      }))
  }
)
