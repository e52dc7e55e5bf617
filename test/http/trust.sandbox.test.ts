import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Schedule, Schema } from "effect"
import { appendFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { makeWorld } from "../../src/sandbox/world.ts"
import { patience } from "../fixtures/patience.ts"
import { runCli } from "../fixtures/programs/cli.ts"
import { startService } from "../fixtures/programs/service.ts"

const tokens = "http:\n  tokens:\n    - { name: Ann, token: token-of-ann-0123456789, role: operator }\n" +
  "    - { name: Vic, token: token-of-vic-0123456789, role: viewer }\n"
const ann = { authorization: "Bearer token-of-ann-0123456789" }
const vic = { authorization: "Bearer token-of-vic-0123456789" }

/** A service with tokens, and a project with a build script, a hook and the program that it names. */
const started = Effect.gen(function*() {
  const world = yield* makeWorld
  const projectPath = join(world.projects, "hello")
  const at = (name: string) => join(projectPath, name)
  rmSync(at("build-image-tar.ps1"), { force: true })
  writeFileSync(at("build-image-tar.sh"), "touch built\n")
  writeFileSync(at("check.sh"), "touch checked\n")
  const container = JSON.parse(readFileSync(at("container.json"), "utf8"))
  writeFileSync(
    at("container.json"),
    JSON.stringify({ ...container, hooks: { beforeDeploy: [["sh", "./check.sh", "--token=abcdefgh"]] } })
  )
  appendFileSync(world.settingsFile, tokens)
  const { request } = yield* startService(world.settingsFile)
  const place = { serverId: world.serverId, remotePath: "~/containers/hello" }
  return {
    at,
    settingsFile: world.settingsFile,
    build: request("POST", "/api/container/build", { projectPath }, ann),
    deploy: request("POST", "/api/container/deploy", { projectPath, ...place }, ann),
    pull: request("POST", "/api/container/pull", {
      serverId: world.serverId,
      files: [{ name: "notes", remotePath: "~/containers/hello/compose.yml", localPath: at("notes.yml"), type: "file" }]
    }, ann),
    health: request("GET", "/api/health?deep=true", undefined, ann),
    programs: request("POST", "/api/projects/programs", { projectPath }, vic),
    runs: Effect.map(request("GET", "/api/runs", undefined, ann), ({ body }) => body),
    trust: (digest: string) => request("POST", "/api/projects/trust", { projectPath, digest }, ann)
  }
})

describe("trust in a project", () => {
  it.scopedLive(
    "is needed for a build and a deploy with a token, and only the machine's user gives it",
    () =>
      Effect.gen(function*() {
        const { at, build, deploy, health, programs, pull, runs, settingsFile, trust } = yield* started
        const trustHere = runCli({ settingsFile }, ["trust", dirname(at("check.sh")), "--yes"])

        const refused = yield* deploy
        expect([refused.status, refused.text]).toEqual([
          403,
          expect.stringContaining("hook beforeDeploy 1 is new, check.sh is new. Nothing was done.")
        ])
        const unbuilt = yield* build
        expect([unbuilt.status, unbuilt.text]).toEqual([403, expect.stringContaining("berth trust PROJECT")])
        expect([existsSync(at("built")), existsSync(at("checked"))]).toEqual([false, false])
        expect(yield* runs).toMatchObject({ runs: [] })

        const shown = yield* programs
        expect(shown.body).toMatchObject({ trusted: false })
        expect(shown.text).not.toContain("abcdefgh")
        expect((yield* trust("0".repeat(64))).status).toBe(403)
        expect((yield* health).text).toContain("hello: build-image-tar.sh is new, ")

        const trusted = yield* trustHere
        expect([trusted.code, trusted.err]).toEqual([0, expect.stringContaining("until one of them changes")])
        expect(statSync(join(dirname(settingsFile), "berth.trust")).mode & 0o777).toBe(0o600)
        expect((yield* programs).body).toMatchObject({ trusted: true })
        expect((yield* build).body).toMatchObject({ exitCode: 0 })
        expect(yield* deploy).toMatchObject({ status: 200 })
        expect([existsSync(at("built")), existsSync(at("checked"))]).toEqual([true, true])

        writeFileSync(at("check.sh"), "touch stolen\n")
        expect((yield* deploy).text).toContain("check.sh has changed since it was trusted")
        expect(existsSync(at("stolen"))).toBe(false)
        yield* trustHere
        expect(yield* pull).toMatchObject({ status: 200, body: { errors: [] } })
        expect((yield* build).status).toBe(403)
      }),
    120_000 * patience
  )

  it.scopedLive(
    "is not given to programs that moved since they were shown, also where the service has no tokens",
    () =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        const projectPath = join(world.projects, "hello")
        const script = join(projectPath, "build-image-tar.sh")
        writeFileSync(script, "touch built\n")
        const { request } = yield* startService(world.settingsFile)
        const digestNow = Effect.map(
          request("POST", "/api/projects/programs", { projectPath }),
          ({ body }) => Schema.decodeUnknownSync(Schema.Struct({ digest: Schema.String }))(body).digest
        )
        const trust = (digest: string) => request("POST", "/api/projects/trust", { projectPath, digest })

        const shown = yield* digestNow
        writeFileSync(script, "touch stolen\n")
        const moved = yield* trust(shown)
        expect([moved.status, moved.text]).toEqual([409, expect.stringContaining("changed since they were shown")])
        expect(existsSync(join(dirname(world.settingsFile), "berth.trust"))).toBe(false)
        expect(yield* trust(yield* digestNow)).toMatchObject({ status: 200, body: { trusted: true } })
      }),
    120_000 * patience
  )

  it.scopedLive("lets no caller with a token pull beneath programs that run", () =>
    Effect.gen(function*() {
      const { at, build, pull, settingsFile } = yield* started
      writeFileSync(at("build-image-tar.sh"), "touch began; while [ ! -e go ]; do sleep 0.1; done\n")
      expect((yield* runCli({ settingsFile }, ["trust", dirname(at("check.sh")), "--yes"])).code).toBe(0)
      const building = yield* Effect.fork(build)
      yield* Effect.repeat(Effect.sync(() => existsSync(at("began"))), {
        schedule: Schedule.spaced("100 millis"),
        until: (hasBegun) => hasBegun
      })
      const refused = yield* pull
      expect([refused.status, refused.text]).toEqual([
        expect.toSatisfy((status: number) => status >= 400 && status < 500),
        expect.stringContaining("is being built or deployed, and its programs could read what is pulled")
      ])
      expect(existsSync(at("notes.yml"))).toBe(false)
      writeFileSync(at("go"), "")
      expect(yield* Fiber.join(building)).toMatchObject({ body: { exitCode: 0 } })
      // The server itself says that nothing is deployed there yet.
      const pulled = yield* pull
      expect([pulled.status, pulled.text]).toEqual([200, expect.stringContaining("no such file or directory")])
    }), 120_000 * patience)
})
