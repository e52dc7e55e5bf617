import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { appendFile, chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { makeWorld } from "../../src/sandbox/world.ts"
import { settingsFileWith, startService } from "../fixtures/programs/service.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

/** The service in its own world; builds run in `sh`, and the editor is missing. */
const start = Effect.gen(function*() {
  const world = yield* makeWorld
  const root = yield* temporaryDirectory
  const shell = join(root, "pwsh")
  yield* Effect.promise(async () => {
    await writeFile(shell, "#!/bin/sh\nfor script do :; done\n. \"$script\"\n")
    await chmod(shell, 0o755)
    await appendFile(
      world.settingsFile,
      `build: { shell: [${JSON.stringify(shell)}] }\neditor: { command: [berth-no-such-editor] }\n`
    )
  })
  return { world, root, ...yield* startService(world.settingsFile) }
})

describe.skipIf(process.platform === "win32")("projects and containers over HTTP", () => {
  it.scopedLive("prepares a project and compares it with nothing", () =>
    Effect.gen(function*() {
      const { request, world } = yield* start
      const projectPath = join(world.projects, "notes")
      const first = yield* request("POST", "/api/projects/init", { projectPath })
      expect(first).toMatchObject({
        status: 200,
        body: {
          success: true,
          created: [
            "container.json",
            "compose.yml",
            ".env",
            "build-image-tar.ps1",
            "build-image-tar.sh",
            ".dockerignore"
          ],
          kept: [],
          project: { name: "notes", containerStatus: "configured", serverId: "sandbox" }
        }
      })
      // The platform's applications and the proxy's routes hold ports up to 2007, and the other project's .env 2008.
      expect(yield* Effect.promise(() => readFile(join(projectPath, ".env"), "utf8"))).toBe("HOST_PORT=2009\n")
      expect((yield* request("POST", "/api/projects/init", { projectPath })).body).toMatchObject({ created: [] })
      const remotePath = "~/containers/notes"
      const compared = yield* request("POST", "/api/projects/compare", { projectPath, serverId: "sandbox", remotePath })
      expect(compared).toMatchObject({
        status: 200,
        body: {
          projectPath,
          serverId: "sandbox",
          remotePath,
          files: [
            { name: ".env", status: "local-only", remoteSize: null },
            { name: "compose.yml", status: "local-only", remoteSize: null }
          ],
          summary: { "same": 0, "different": 0, "local-only": 2, "remote-only": 0 },
          warnings: []
        }
      })
    }))

  it.scopedLive("pulls what is deployed", () =>
    Effect.gen(function*() {
      const { request, root } = yield* start
      const item = (name: string, remotePath: string, type: string) => ({
        name,
        remotePath,
        localPath: join(root, "pulled", name),
        type
      })
      const pulled = yield* request("POST", "/api/container/pull", {
        serverId: "sandbox",
        files: [
          item("data", "~/containers/greeter/data", "directory"),
          item("stack", "~/containers/greeter/compose.yml", "file"),
          item("none", "~/containers/greeter/none", "file")
        ]
      })
      expect(pulled).toMatchObject({
        status: 200,
        body: {
          pulled: [{ name: "data", localPath: join(root, "pulled", "data"), files: 1, bytes: 3 }, {
            name: "stack",
            files: 1
          }],
          errors: [{ name: "none", error: expect.stringContaining("no such file") }]
        }
      })
      expect(yield* Effect.promise(() => readdir(join(root, "pulled")))).toEqual(["data", "stack"])
    }))

  it.scopedLive("builds, and tells how it went", () =>
    Effect.gen(function*() {
      const { request, root } = yield* start
      const projectPath = join(root, "app")
      yield* plant(projectPath, { "build-image-tar.ps1": "echo built; echo x >app.tar" })
      expect(yield* request("POST", "/api/container/build", { projectPath })).toMatchObject({
        status: 200,
        body: { success: true, tarFile: "app.tar", exitCode: 0, output: "built\n", durationMs: expect.any(Number) }
      })
      yield* plant(projectPath, { "build-image-tar.ps1": "echo no docker; exit 4" })
      expect(yield* request("POST", "/api/container/build", { projectPath })).toMatchObject({
        status: 200,
        body: { success: false, tarFile: null, exitCode: 4, output: "no docker\n" }
      })
      const without = yield* request("POST", "/api/container/build", { projectPath: root })
      expect(without).toMatchObject({ status: 400, body: { error: expect.stringContaining("build-image-tar.ps1") } })
    }))

  it.scopedLive("names an editor that is not installed", () =>
    Effect.gen(function*() {
      const { request, world } = yield* start
      expect(
        yield* request("POST", "/api/container/editor-diff", {
          serverId: "sandbox",
          localPath: join(world.projects, "hello", "compose.yml"),
          remoteFilePath: "~/containers/greeter/compose.yml"
        })
      ).toMatchObject({ status: 500, body: { error: expect.stringContaining("berth-no-such-editor") } })
    }))

  it.scopedLive("shows the logs of a container and of a stack", () =>
    Effect.gen(function*() {
      const { request } = yield* start
      const logs = (query: string) => request("GET", `/api/servers/sandbox/logs?${query}`)
      const container = yield* logs("containerName=greeter&lines=1")
      expect(container).toMatchObject({
        status: 200,
        body: { success: true, logs: expect.stringMatching(/^[^\n]+\n$/) }
      })
      const stack = yield* logs("remotePath=~/containers/greeter&containerName=greeter&lines=1")
      expect(stack.body).toMatchObject({ logs: expect.stringMatching(/^greeter[^\n]*\|[^\n]+\n$/) })
      expect((yield* logs("containerName=none")).body).toMatchObject({
        error: expect.stringMatching(/^Failed to get logs: .*none/)
      })
    }))

  it.scopedLive("names what is wrong with a request", () =>
    Effect.gen(function*() {
      const { request, root, world } = yield* start
      yield* Effect.promise(() => mkdir(join(root, "app")))
      const good = { projectPath: join(root, "app"), serverId: "sandbox", remotePath: "~/x" }
      const item = { name: "a", remotePath: "~/x", localPath: join(root, "a"), type: "file" }
      const diff = { serverId: "sandbox", localPath: join(root, "none"), remoteFilePath: "~/x" }
      const cases = [
        ["/api/projects/compare", { ...good, serverId: "none", projectPath: "x" }, 404, /Server not found/],
        ["/api/projects/compare", { ...good, serverId: "none", remotePath: "x" }, 404, /Server not found/],
        ["/api/projects/compare", { ...good, serverId: "none", remotePath: 7 }, 400, /^remotePath/],
        ["/api/container/deploy", { ...good, serverId: "none", remotePath: "~/../x" }, 404, /Server not found/],
        ["/api/container/deploy", { ...good, remotePath: "~/../x" }, 400, /^remotePath must not contain/],
        ["/api/projects/compare", { ...good, projectPath: "x" }, 400, /^projectPath "x" is not absolute/],
        ["/api/projects/compare", { ...good, remotePath: "x" }, 400, /^remotePath/],
        ["/api/projects/compare", { projectPath: root }, 400, /serverId/],
        ["/api/projects/init", { projectPath: join(root, "none") }, 400, /does not exist/],
        ["/api/projects/init", {}, 400, /^projectPath/],
        ["/api/container/build", { projectPath: join(root, "pwsh") }, 400, /is not a directory/],
        ["/api/container/pull", { serverId: "none", files: [{ ...item, localPath: "x" }] }, 404, /Server not found/],
        ["/api/container/pull", { serverId: "none", files: [{ ...item, remotePath: "x" }] }, 404, /Server not found/],
        [
          "/api/container/pull",
          { serverId: "sandbox", files: [item, { ...item, remotePath: "x" }] },
          400,
          /^files\[1\]\.remotePath must be absolute/
        ],
        [
          "/api/container/pull",
          { serverId: "sandbox", files: [{ ...item, localPath: "x" }] },
          400,
          /^files\[0\]\.localPath/
        ],
        ["/api/container/pull", { serverId: "sandbox", files: [{ ...item, type: "link" }] }, 400, /^files\[0\]\.type/],
        ["/api/container/pull", { serverId: "sandbox" }, 400, /^files/],
        ["/api/container/editor-diff", { ...diff, serverId: "none" }, 404, /Server not found/],
        ["/api/container/editor-diff", { ...diff, serverId: "none", remoteFilePath: "" }, 404, /Server not found/],
        ["/api/container/editor-diff", { ...diff, remoteFilePath: "" }, 400, /^remoteFilePath must be absolute/],
        ["/api/container/editor-diff", diff, 400, /^localPath/]
      ] as const
      for (const [path, body, status, words] of cases) {
        const reply = yield* request("POST", path, body)
        expect({ path, status: reply.status, body: reply.body }).toEqual({
          path,
          status,
          body: { error: expect.stringMatching(words) }
        })
      }
      yield* Effect.promise(() => writeFile(world.settingsFile, `projects: { root: ${root}/none }\n`))
      expect(yield* request("GET", "/api/projects")).toMatchObject({
        status: 500,
        body: { error: expect.stringContaining(`${root}/none`) }
      })
    }))

  it.scopedLive("is a bad gateway where the server cannot be reached", () =>
    Effect.gen(function*() {
      const { request, root, world } = yield* start
      yield* plant(root, { "app/compose.yml": "" })
      yield* Effect.promise(async () => {
        const text = await readFile(world.settingsFile, "utf8")
        await writeFile(world.settingsFile, text.replace(`port: ${world.server.port}`, "port: 1"))
      })
      const item = { name: "a", remotePath: "~/x", localPath: join(root, "a"), type: "file" }
      const asked = [
        ["/api/projects/compare", { projectPath: join(root, "app"), serverId: "sandbox", remotePath: "~/x" }],
        ["/api/container/pull", { serverId: "sandbox", files: [item] }],
        ["/api/container/editor-diff", {
          serverId: "sandbox",
          localPath: join(root, "app", "compose.yml"),
          remoteFilePath: "~/x"
        }]
      ] as const
      for (const [path, body] of asked) {
        const reply = yield* request("POST", path, body)
        expect({ path, status: reply.status, body: reply.body }).toEqual({
          path,
          status: 502,
          body: { error: expect.stringContaining("Sandbox") }
        })
      }
    }))
})

/** Has this process another home directory until the scope closes. */
const withHome = (home: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = process.env["HOME"]
      process.env["HOME"] = home
      return before
    }),
    (before) => Effect.sync(() => before === undefined ? delete process.env["HOME"] : process.env["HOME"] = before)
  )

describe("the projects of a fresh home", () => {
  it.scopedLive("are none, and what to set stands in the overview; a root that is set has to exist", () =>
    Effect.gen(function*() {
      yield* withHome(yield* temporaryDirectory)
      const fresh = yield* startService(yield* settingsFileWith(""))
      expect(yield* fresh.request("GET", "/api/projects")).toMatchObject({ status: 200, body: [] })
      expect((yield* fresh.request("GET", "/api/overview")).body).toMatchObject({
        errors: [expect.stringContaining("create it, or set projects.root in ")],
        firstStep: "projects"
      })
      // With servers too: their projects may all be elsewhere, and are called by paths or from their directories.
      const server =
        "servers: [{ id: main, name: Main, host: main.invalid, port: 22, username: ann, password: secret }]\n"
      const elsewhere = yield* startService(yield* settingsFileWith(server))
      expect(yield* elsewhere.request("GET", "/api/projects")).toMatchObject({ status: 200, body: [] })
      const named = yield* startService(yield* settingsFileWith("projects: { root: ~/projects }\n"))
      expect(yield* named.request("GET", "/api/projects")).toMatchObject({
        status: 500,
        body: { error: expect.stringContaining("the projects root does not exist") }
      })
      expect((yield* named.request("GET", "/api/overview")).body).toMatchObject({ firstStep: "server" })
    }))
})
