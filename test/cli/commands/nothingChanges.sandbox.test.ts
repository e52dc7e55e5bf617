import { describe, expect, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { homeDirectory } from "../../../src/client/node/connect.ts"
import { freePort } from "../../fixtures/network/freePort.ts"
import { runCli } from "../../fixtures/programs/cli.ts"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const release = {
  id: "3",
  at: "2026-01-02T03:04:05Z",
  by: "ann",
  current: false,
  available: true,
  images: [],
  files: []
}

/** A service with one server and these answers by path; `asked` are the paths of its requests. */
const serving = (plans: Readonly<Record<string, unknown>>) =>
  Effect.gen(function*() {
    const asked: Array<string> = []
    const answers: Readonly<Record<string, unknown>> = {
      "/api/projects": [],
      "/api/servers": [{ id: "1", name: "Main", host: "main.test", port: 22, username: "ann", useSudo: false }],
      ...plans
    }
    const port = yield* freePort
    yield* Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>>((resume) => {
        const server = createServer((request, response) => {
          const path = String(request.url)
          asked.push(path)
          const answer = answers[path]
          response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" })
          response.end(JSON.stringify(answer ?? { error: "there is no such thing" }))
        })
        server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    )
    return { asked, url: `http://127.0.0.1:${port}` }
  })

/** A service that plans a rollback with these obstacles. */
const planning = (obstacles: ReadonlyArray<string>) =>
  serving({
    "/api/container/rollback/plan": {
      serverId: "1",
      remotePath: "~/app",
      release,
      files: [],
      services: [],
      obstacles,
      warnings: []
    }
  })

const removal = {
  serverId: "1",
  remotePath: "~/app",
  releases: [{ id: "3", at: "2026-01-02T03:04:05Z" }],
  backups: [{ id: "12", takenAt: "2026-01-01T00:00:00Z", bytes: 2_000_000, items: ["database"] }],
  containers: ["app-web-1"],
  files: Array.from({ length: 23 }, (_, index) => `f${index}`),
  images: ["app:latest"],
  volumes: [],
  stays: [
    { kind: "directory", name: "data", because: "data/ is never removed" },
    { kind: "file", name: "x\n  - file \u001b[31mdata", because: "Berth did not bring it" }
  ],
  omitted: [{ list: "files", number: 100 }]
}
const removalArgs = ["remove", "/", "--server", "1", "--path", "~/app"]

describe("berth remove", () => {
  it.scopedLive("--dry-run lists releases and backups first, cuts its lists, asks for nothing and ends with 0", () =>
    Effect.gen(function*() {
      const { asked, url } = yield* serving({ "/api/container/remove/plan": removal })
      const { code, err, out } = yield* runCli({ url }, [...removalArgs, "--dry-run"])
      expect([code, err]).toEqual([0, ""])
      expect(out.split("\n")).toEqual([
        "Removal of the stack at ~/app on Main:",
        "  - release 3, deployed 2026-01-02T03:04:05Z",
        "  - backup 12 of database, taken 2026-01-01T00:00:00Z, 2.0 MB",
        "  - container app-web-1",
        ...removal.files.slice(0, 20).map((name) => `  - file ${name}`),
        "    and 103 more",
        "  - image app:latest",
        "  = directory data/ stays: data/ is never removed",
        "  = file x\\n  - file \\u001b[31mdata stays: Berth did not bring it",
        ""
      ])
      expect(asked).not.toContain("/api/container/remove")
      const json = yield* runCli({ url }, [...removalArgs, "--dry-run", "--json"])
      expect([json.code, JSON.parse(json.out)]).toEqual([0, removal])
    }))

  it.scopedLive("shows the list before its question, and asks nothing where there is none", () =>
    Effect.gen(function*() {
      const { asked, url } = yield* serving({ "/api/container/remove/plan": removal })
      const declined = yield* runCli({ url }, removalArgs, { answers: [false] })
      expect([declined.code, declined.out]).toEqual([1, ""])
      expect(declined.err).toMatch(
        /- release 3,[^]*and 103 more[^]*Remove the stack at ~\/app on Main\?[^]*Nothing was changed/
      )
      expect(asked).not.toContain("/api/container/remove")

      const unknown = yield* serving({})
      const without = yield* runCli({ url: unknown.url }, removalArgs, { answers: [true] })
      expect([without.code, without.err]).toEqual([1, "Error: there is no such thing\n"])
      expect(unknown.asked).not.toContain("/api/container/remove")
    }))

  it.scopedLive("asks for no list with --yes", () =>
    Effect.gen(function*() {
      const { asked, url } = yield* serving({ "/api/container/remove/plan": removal })
      yield* runCli({ url }, [...removalArgs, "--yes"])
      expect(asked).toContain("/api/container/remove")
      expect(asked).not.toContain("/api/container/remove/plan")
    }))
})

describe("berth", () => {
  it.scopedLive("rollback fails where something is in the way, and changes nothing", () =>
    Effect.gen(function*() {
      const { asked, url } = yield* planning(["Docker is too old"])
      const ran = yield* runCli({ url }, ["rollback", "/", "--server", "1", "--path", "~/app", "--yes"])
      expect(ran).toMatchObject({
        code: 1,
        err: expect.stringContaining("~/app on Main cannot be rolled back to release 3 now: nothing was changed")
      })
      expect(ran.err).toContain("✗ Docker is too old")
      expect(asked).not.toContain("/api/container/rollback")
    }))

  it.scopedLive("rollback understands a release alone in the directory of a project, and nowhere else", () =>
    Effect.gen(function*() {
      const { url } = yield* planning(["Docker is too old"])
      const [project, other] = [yield* temporaryDirectory, yield* temporaryDirectory]
      yield* plant(project, { "compose.yml": "services: {}\n" })
      const cwd = vi.spyOn(process, "cwd")
      yield* Effect.addFinalizer(() => Effect.sync(() => cwd.mockRestore()))
      const rolledBack = (directory: string, name: string) => {
        cwd.mockReturnValue(directory)
        return Effect.map(
          runCli({ url }, ["rollback", name, "--server", "1", "--path", "~/app", "--yes"]),
          ({ err }) => err.split("\n").at(-2)
        )
      }
      expect(yield* rolledBack(project, "3")).toContain("cannot be rolled back to release 3 now")
      expect(yield* rolledBack(other, "3")).toContain("No project is named \"3\", under the projects root or here")
      expect(yield* rolledBack(project, "shop")).toContain("No project is named \"shop\"")
    }))

  it.scopedLive("releases and exec understand a release and a service alone there, too", () =>
    Effect.gen(function*() {
      const { asked, url } = yield* planning([])
      const project = yield* temporaryDirectory
      yield* plant(project, { "container.json": "{}" })
      const cwd = vi.spyOn(process, "cwd").mockReturnValue(project)
      yield* Effect.addFinalizer(() => Effect.sync(() => cwd.mockRestore()))
      const place = ["--server", "1", "--path", "~/app"]
      yield* runCli({ url }, ["releases", "3", ...place])
      expect(asked.at(-1)).toMatch(/^\/api\/servers\/1\/releases\/compare\?.*from=3/)
      yield* runCli({ url }, ["exec", "web", ...place, "--", "ls"])
      expect(asked.at(-1)).toBe("/api/servers/1/exec")
    }))

  it.scopedLive("server add finds a key file as a shell would, and says that one is missing", () =>
    Effect.gen(function*() {
      const settingsFile = yield* settingsFileWith("servers: []\n")
      const { url } = yield* startService(settingsFile)
      const key = join(homeDirectory(), "no-such-key")
      const { code, err, out } = yield* runCli({ url }, [
        "server",
        "add",
        "Attic",
        "ann@attic.invalid",
        "--key",
        "~/no-such-key",
        "--dry-run"
      ])
      expect(code).toBe(0)
      expect(err).toContain(`There is no key file ${key} on this machine`)
      expect(out.split("\n")).toEqual(expect.arrayContaining([`${settingsFile}:`, `  +    privateKey: ${key}`]))
    }))

  it.scopedLive("server add --dry-run says where it would change nothing", () =>
    Effect.gen(function*() {
      const settingsFile = yield* settingsFileWith(
        "servers:\n  - id: attic\n    name: Attic\n    host: attic.invalid\n    port: 22\n    username: ann\n" +
          "    agent: true\n    useSudo: false\n"
      )
      const { url } = yield* startService(settingsFile)
      const before = readFileSync(settingsFile, "utf8")
      const add = (name: string) =>
        runCli({ url }, ["server", "add", name, "ann@attic.invalid", "--agent", "--id", "attic", "--dry-run"])
      expect(yield* add("Attic")).toMatchObject({ code: 0, out: "", err: "Nothing would change.\n" })
      expect((yield* add("Cellar")).out).toContain("Cellar")
      expect(readFileSync(settingsFile, "utf8")).toBe(before)
    }))
})
