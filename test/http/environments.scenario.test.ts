import { NodeContext } from "@effect/platform-node"
import { describe, expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeWorld } from "../../src/sandbox/world.ts"
import { RunsPage } from "../../src/schema/runs.ts"
import { patience } from "../fixtures/patience.ts"
import { runCli } from "../fixtures/programs/cli.ts"
import { type Service, startService } from "../fixtures/programs/service.ts"

interface Scene {
  readonly service: Service
  readonly serverId: string
  readonly username: string
  readonly projectPath: string
  /** Writes container.json anew. */
  readonly configure: (content: Record<string, unknown>) => void
}

class Stage extends Context.Tag("Stage")<Stage, Scene>() {}

const environments = {
  staging: {
    server: "Sandbox",
    remotePath: "~/containers/hello-staging",
    compose: ["staging.yml"],
    envFiles: [".env.staging"]
  },
  production: { server: "Sandbox", remotePath: "~/containers/hello-live", envFiles: [".env.live"], protected: true },
  preview: {
    server: "Sandbox",
    remotePath: "~/containers/hello-preview",
    compose: ["staging.yml"],
    profiles: ["extra"]
  }
}

/** A project with two environments of one server, which differ in compose files, profiles and env files. */
const StageLive = Layer.scoped(
  Stage,
  Effect.gen(function*() {
    const world = yield* makeWorld
    const service = yield* startService(world.settingsFile)
    const projectPath = join(world.projects, "hello")
    const write = (name: string, text: string) => writeFileSync(join(projectPath, name), text)
    write("compose.yml", "services:\n  hello:\n    image: hello:latest\n")
    write(
      "staging.yml",
      "services:\n  hello:\n    image: hello:latest\n  helper:\n    image: hello:latest\n    profiles: [extra]\n"
    )
    write(".env.staging", "WHERE=staging\n")
    write(".env.live", "WHERE=live\n")
    const configure: Scene["configure"] = (content) => write("container.json", JSON.stringify(content))
    configure({ environments, requireEnvironment: true })
    return { service, projectPath, serverId: world.serverId, username: world.server.username, configure }
  })
).pipe(Layer.provide(NodeContext.layer))

const runsIn = Schema.decodeSync(Schema.parseJson(RunsPage))
const flat = (text: string) => text.replaceAll(/\s+/g, " ")

/** Endpoints that take a project, with the further fields of their requests; `free` ones take no place. */
const ofProjects = [
  ["/api/container/deploy", {}, "placed"],
  ["/api/container/plan", {}, "placed"],
  ["/api/projects/compare", {}, "placed"],
  ["/api/container/deploy/targets", {}, "free"],
  ["/api/container/deploy/targets/plan", {}, "free"],
  ["/api/container/build", {}, "free"],
  ["/api/projects/secrets/check", {}, "free"],
  ["/api/projects/secrets/set", { name: "A", value: "b" }, "free"],
  ["/api/projects/secrets/recipients", { add: [] }, "free"],
  ["/api/container/rollback", {}, "placed"],
  ["/api/container/rollback/plan", {}, "placed"],
  ["/api/container/stop", {}, "placed"],
  ["/api/container/start", {}, "placed"],
  ["/api/container/restart", {}, "placed"],
  ["/api/container/remove", {}, "placed"],
  ["/api/container/remove/plan", {}, "placed"],
  ["/api/container/backup", {}, "placed"],
  ["/api/container/backup/verify", { backup: "1" }, "placed"],
  ["/api/container/restore", { backup: "1" }, "placed"],
  ["/api/container/restore/plan", { backup: "1" }, "placed"]
] as const

describe.skipIf(process.platform === "win32")("a project with environments", () => {
  layer(StageLive, { timeout: "120 seconds", excludeTestServices: true })((it) => {
    it.effect.each(ofProjects)(
      "is refused by %s without the environment, or with a wrong one",
      ([path, fields, kind]) =>
        Effect.gen(function*() {
          const { projectPath, serverId, service: { request } } = yield* Stage
          const ask = (more: Record<string, unknown>) => request("POST", path, { projectPath, ...fields, ...more })

          const absent = yield* ask({})
          expect([absent.status, absent.text]).toEqual([422, expect.stringContaining("staging, production or preview")])
          const unknown = yield* ask({ environment: "stagin" })
          expect([unknown.status, unknown.text]).toEqual([422, expect.stringContaining("has no environment")])
          if (kind === "free") return
          const elsewhere = yield* ask({ environment: "staging", remotePath: "~/containers/hello-live" })
          expect([elsewhere.status, elsewhere.text]).toEqual([
            422,
            expect.stringContaining("contradicts the environment")
          ])
          const stored = yield* ask({ environment: "staging", serverId: "nobody" })
          expect([stored.status, stored.text]).toEqual([expect.any(Number), expect.stringContaining("nobody")])
          expect(stored.status).toBeGreaterThanOrEqual(400)
          // Both may be given where they agree.
          const agreeing = yield* ask({
            environment: "staging",
            serverId,
            remotePath: "~/containers/hello-staging/",
            ...path.endsWith("/deploy") ? { planHash: "0".repeat(40) } : {}
          })
          expect(agreeing.text).not.toContain("contradicts")
          expect(agreeing.text).not.toContain("requires an environment")
        })
    )

    it.effect(
      "is planned and deployed to each, with its own compose files, profiles and env files",
      () =>
        Effect.gen(function*() {
          const { projectPath, serverId, service: { request } } = yield* Stage
          const plan = yield* request("POST", "/api/container/plan", { projectPath, environment: "staging" })
          expect(plan.body).toMatchObject({
            environment: "staging",
            serverId,
            remotePath: "~/containers/hello-staging",
            obstacles: [],
            compose: { files: ["staging.yml"], profiles: [], envFiles: [".env.staging"] },
            services: [{ name: "hello", change: "create" }]
          })
          const preview = yield* request("POST", "/api/container/plan", { projectPath, environment: "preview" })
          expect(preview.body).toMatchObject({
            compose: { files: ["staging.yml"], profiles: ["extra"] },
            services: [{ name: "hello", change: "create" }, { name: "helper", change: "create" }]
          })
          expect(plan.body).not.toHaveProperty("protected")
          const live = yield* request("POST", "/api/container/plan", { projectPath, environment: "production" })
          expect(live.body).toMatchObject({
            environment: "production",
            protected: true,
            remotePath: "~/containers/hello-live",
            compose: { files: ["compose.yml"], profiles: [], envFiles: [".env.live"] },
            services: [{ name: "hello", change: "create" }]
          })
          const { planHash } = Schema.decodeUnknownSync(Schema.Struct({ planHash: Schema.String }))(plan.body)
          const crossed = yield* request("POST", "/api/container/deploy", {
            projectPath,
            environment: "production",
            confirm: "production",
            planHash
          })
          expect(crossed.status).toBe(409)
          const deployed = yield* request("POST", "/api/container/deploy", {
            projectPath,
            environment: "staging",
            planHash
          })
          expect([deployed.status, deployed.body]).toEqual([200, expect.objectContaining({ success: true })])

          const releases = yield* request(
            "GET",
            `/api/servers/${serverId}/releases?remotePath=${encodeURIComponent("~/containers/hello-staging")}`
          )
          expect(releases.body).toMatchObject({ releases: [{ environment: "staging", current: true }] })
          const runs = runsIn((yield* request("GET", "/api/runs")).text).runs
          expect(runs[0]?.subject).toMatchObject({ environment: "staging", remotePath: "~/containers/hello-staging" })
          const compared = yield* request("POST", "/api/projects/compare", { projectPath, environment: "staging" })
          expect(compared.body).toMatchObject({ environment: "staging", summary: { different: 0 } })
          const overview = yield* request("GET", "/api/overview")
          expect(overview.body).toMatchObject({
            projects: expect.arrayContaining([expect.objectContaining({
              name: "hello",
              servers: expect.arrayContaining([
                expect.objectContaining({ environment: "staging", remotePath: "~/containers/hello-staging" }),
                expect.objectContaining({ environment: "production", remotePath: "~/containers/hello-live" })
              ])
            })])
          })
        }),
      120_000 * patience
    )

    it.effect(
      "changes a protected one only where its name confirms it, also by its place alone",
      () =>
        Effect.gen(function*() {
          const { projectPath, serverId, service: { request, url }, username } = yield* Stage
          const named = { projectPath, environment: "production" }
          const placed = { serverId, remotePath: "~/containers/hello-live" }
          const refusals = [
            ["/api/container/deploy", named],
            ["/api/container/deploy", { ...named, confirm: "staging" }],
            ["/api/container/deploy/targets", named],
            ...["rollback", "stop", "start", "restart", "remove"].flatMap((action) => [
              [`/api/container/${action}`, named] as const,
              [`/api/container/${action}`, placed] as const
            ]),
            ["/api/container/restore", { ...placed, backup: "1" }]
          ] as const
          for (const [path, body] of refusals) {
            const refused = yield* request("POST", path, body)
            expect([path, refused.status, refused.text]).toEqual([
              path,
              403,
              expect.stringContaining("is protected")
            ])
          }
          // Another project that names the place, in either spelling, is held to the same.
          const other = join(projectPath, "..", "other")
          mkdirSync(other)
          writeFileSync(join(other, "compose.yml"), "services:\n  hello:\n    image: hello:latest\n")
          const spellings = ["~/containers/hello-live", `/home/${username}/containers/hello-live`]
          for (const [index, remotePath] of spellings.entries()) {
            const environments = { live: { server: "Sandbox", remotePath } }
            writeFileSync(join(other, "container.json"), JSON.stringify(index === 0 ? {} : { environments }))
            const asks = [
              { projectPath: other, serverId, remotePath },
              ...index === 0 ? [] : [{ projectPath: other, environment: "live" }]
            ].slice(index)
            for (const ask of asks) {
              for (const path of ["deploy", "rollback", "stop", "start", "restart", "remove", "deploy/targets"]) {
                if (path === "deploy/targets" && index === 0) continue
                const refused = yield* request("POST", `/api/container/${path}`, ask)
                expect([path, ask, refused.status, refused.text]).toEqual([
                  path,
                  ask,
                  403,
                  expect.stringContaining("of \\\"hello\\\" is protected")
                ])
              }
              const plan = yield* request("POST", "/api/container/plan", ask)
              expect(plan.body).toMatchObject({ protected: true })
            }
          }
          rmSync(other, { recursive: true })
          // The place of an environment belongs to it.
          const unnamed = yield* request("POST", "/api/container/stop", { ...placed, confirm: "production" })
          expect(unnamed.status).toBe(404)

          const way = { url }
          const args = ["deploy", projectPath, "--env", "production"]
          const silent = yield* runCli(way, [...args, "--yes"])
          expect([silent.code, flat(silent.err)]).toEqual([64, expect.stringContaining("Add --confirm production")])
          const wrong = yield* runCli(way, [...args, "--confirm", "staging"])
          expect([wrong.code, flat(wrong.err)]).toEqual([1, expect.stringContaining("\"staging\" is not its name")])
          const declined = yield* runCli(way, args, { answers: [], typed: "" })
          expect([declined.code, flat(declined.err)]).toEqual([1, expect.stringContaining("Nothing was changed.")])
          const typed = yield* runCli(way, args, { answers: [], typed: "production" })
          expect([typed.code, flat(typed.err)]).toEqual([
            0,
            expect.stringContaining("Type the name of the environment")
          ])
          const again = yield* runCli(way, ["restart", projectPath, "--env", "production", "--confirm", "production"])
          expect(again.code).toBe(0)
          const missing = yield* runCli(way, ["releases", projectPath])
          expect([missing.code, flat(missing.err)]).toEqual([
            1,
            expect.stringContaining("add --env with staging, production or preview")
          ])
          const shown = yield* runCli(way, ["releases", projectPath, "--env", "production"])
          expect(shown.out).toMatch(/ENVIRONMENT[\s\S]*production/)
          const contradicted = yield* runCli(way, ["logs", projectPath, "--env", "production", "--path", "~/other"])
          expect([contradicted.code, flat(contradicted.err)]).toEqual([
            64,
            expect.stringContaining("contradicts --env")
          ])
        }),
      120_000 * patience
    )

    it.effect("whose place is named without it is told which one it is", () =>
      Effect.gen(function*() {
        const { configure, projectPath, serverId, service: { request } } = yield* Stage
        configure({ serverId: "Sandbox", environments })
        const place = { projectPath, serverId, remotePath: "~/containers/hello-staging" }
        const unnamed = yield* request("POST", "/api/container/plan", place)
        expect([unnamed.status, unnamed.text]).toEqual([422, expect.stringContaining("is the environment")])
        // The file's own place needs neither.
        const own = yield* request("POST", "/api/container/plan", { projectPath })
        expect(own.body).toMatchObject({ serverId, remotePath: "~/containers/hello" })
        configure({ environments: {} })
        const nowhere = yield* request("POST", "/api/container/plan", { projectPath })
        expect([nowhere.status, nowhere.text]).toEqual([400, expect.stringContaining("serverId")])
        expect(readFileSync(join(projectPath, "container.json"), "utf8")).toBe("{\"environments\":{}}")
        configure({ environments, requireEnvironment: true })
      }))
  })
})
