import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, TestClock } from "effect"
import { readdir, readFile, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { init } from "../../src/pipelines/init.ts"
import { PlatformUnavailable } from "../../src/schema/applications.ts"
import type { InitRequest } from "../../src/schema/projects.ts"
import { LocalFilesLive } from "../../src/services/local/LocalFiles.ts"
import { Platform } from "../../src/services/platform/Platform.ts"
import { settingsTest } from "../../src/testing/SettingsTest.ts"
import { sshTest } from "../../src/testing/SshTest.ts"
import { plant, type Planted, temporaryDirectory } from "../layers/temporary.ts"
import { env, record } from "./applications/plans.ts"

const local = Layer.mergeAll(
  Layer.provideMerge(LocalFilesLive, NodeContext.layer),
  settingsTest(),
  sshTest({}),
  Layer.mock(Platform, { applications: new PlatformUnavailable({ call: "GET /applications", reason: "refused" }) })
)

const project = (name: string, files: { readonly [path: string]: Planted }) =>
  Effect.gen(function*() {
    const directory = join(yield* temporaryDirectory, name)
    yield* plant(directory, files)
    return directory
  })
const textAt = (directory: string, name: string) => Effect.promise(() => readFile(join(directory, name), "utf8"))
const all = ["container.json", "compose.yml", ".env", "build-image-tar.ps1", "build-image-tar.sh", ".dockerignore"]

describe("init", () => {
  it.scoped("writes what a project with a Dockerfile needs", () =>
    Effect.gen(function*() {
      const directory = yield* project("My App", { Dockerfile: "FROM scratch\nEXPOSE 8080\n" })
      const result = yield* init({ projectPath: directory })
      expect(result).toMatchObject({ success: true, created: all, kept: [] })
      expect(result.project).toMatchObject({ hasComposeFile: true, serverId: null, containerStatus: "partial" })
      expect(result.project.remotePath).toBe("~/containers/My App")
      expect(JSON.parse(yield* textAt(directory, "container.json"))).toEqual({
        serverId: "",
        remotePath: "~/containers/My App",
        files: [],
        bridged: []
      })
      expect(yield* textAt(directory, "compose.yml")).toContain("${HOST_PORT}:8080")
      expect(yield* textAt(directory, ".env")).toBe("HOST_PORT=2007\n")
      const { mode } = yield* Effect.promise(() => stat(join(directory, ".env")))
      if (process.platform !== "win32") expect(mode & 0o777).toBe(0o600)
      expect(yield* textAt(directory, "build-image-tar.ps1")).toContain("'my-app:latest'")
      expect(yield* textAt(directory, "build-image-tar.sh")).toContain("'my-app:latest'")
      expect(yield* textAt(directory, ".dockerignore")).toContain("\n*.tar\n.env\ndata\n")
    }).pipe(Effect.provide(local)))

  it.scoped("fills an empty serverId in, and changes nothing else of a container.json that is there", () =>
    Effect.gen(function*() {
      const text = "{\n  \"remotePath\": \"~/a \\\"serverId\\\": b\",\n  \"serverId\" : \"\"\n}\n"
      const directory = yield* project("app", { "container.json": text })
      const request = { projectPath: directory, plan: true }
      expect(yield* init(request).pipe(Effect.provide(local))).toMatchObject({ kept: ["container.json"] })
      const server = { id: "1", name: "Attic \"$&", host: "10.0.0.1", port: 22, username: "ann", useSudo: false }
      const withServer = Layer.merge(local, settingsTest({}, [{ ...server, credentials: {} }]))
      const planned = yield* init(request).pipe(Effect.provide(withServer))
      expect([planned.changed, planned.kept]).toEqual([["container.json"], []])
      expect(yield* textAt(directory, "container.json")).toBe(text)
      const done = yield* init({ projectPath: directory }).pipe(Effect.provide(withServer))
      expect(done.changed).toEqual(["container.json"])
      expect(done.project.serverId).toBe("1")
      expect(yield* textAt(directory, "container.json")).toBe(text.replace("\"\"\n}", () => `"Attic \\"$&"\n}`))
      // A server that is named stays.
      const again = yield* init({ projectPath: directory }).pipe(Effect.provide(withServer))
      expect([again.changed, again.kept.includes("container.json")]).toEqual([undefined, true])
    }))

  it.scoped("names the wanted server, or else the only one, and writes nothing of a plan", () =>
    Effect.gen(function*() {
      const server = (id: string, name: string) => ({
        id,
        name,
        host: "10.0.0.1",
        port: 22,
        username: "ann",
        useSudo: false,
        credentials: {}
      })
      const with2 = settingsTest({}, [server("1", "Main"), server("2", "Attic")])
      const with1 = settingsTest({}, [server("1763800000001", "Main")])
      const named = (request: Partial<InitRequest>, settings: typeof with1) =>
        Effect.gen(function*() {
          const directory = yield* project("app", {})
          const plan = yield* init({ projectPath: directory, ...request, plan: true }).pipe(Effect.provide(settings))
          expect(yield* Effect.promise(() => readdir(directory))).toEqual([])
          expect(plan.created).toEqual(all)
          const { project: after } = yield* init({ projectPath: directory, ...request }).pipe(Effect.provide(settings))
          const { remotePath, serverId } = JSON.parse(yield* textAt(directory, "container.json"))
          return [serverId, remotePath, after.serverId]
        })
      expect(yield* named({}, with1)).toEqual(["Main", "~/containers/app", "1763800000001"])
      expect(yield* named({}, with2)).toEqual(["", "~/containers/app", null])
      expect(yield* named({ serverId: "ATTIC", remotePath: "~/else" }, with2)).toEqual(["Attic", "~/else", "2"])
      const directory = yield* project("app", {})
      for (const [request, status] of [[{ serverId: "nobody" }, 404], [{ remotePath: "/" }, 400]] as const) {
        const failed = yield* Effect.flip(init({ projectPath: directory, ...request }).pipe(Effect.provide(with2)))
        expect(failed.status).toBe(status)
      }
      expect(yield* Effect.promise(() => readdir(directory))).toEqual([])
    }).pipe(Effect.provide(local)))

  it.scoped("takes the next free port where the platform answers", () =>
    Effect.gen(function*() {
      const directory = yield* project("app", {})
      const platform = Layer.mock(Platform, {
        applications: Effect.succeed([record()]),
        envs: () => Effect.succeed([env("HOST_PORT", "2041")])
      })
      yield* init({ projectPath: directory }).pipe(Effect.provide(platform))
      expect(yield* textAt(directory, ".env")).toBe("HOST_PORT=2042\n")
    }).pipe(Effect.provide(local)))

  it.scoped("takes no port that another project has, deployed or not", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      yield* plant(root, {
        "other/.env": "HOST_PORT=2007\n",
        "third/.env": "HOST_PORT=2008\n",
        app: { directory: true }
      })
      yield* init({ projectPath: join(root, "app") }).pipe(Effect.provide(settingsTest({ "projects.root": root })))
      expect(yield* textAt(join(root, "app"), ".env")).toBe("HOST_PORT=2009\n")
    }).pipe(Effect.provide(local)))

  it.scoped("writes nothing while a port may be handed out twice, and says why", () =>
    Effect.gen(function*() {
      const directory = yield* project("app", { Dockerfile: "FROM scratch\n" })
      const platform = Layer.mock(Platform, {
        applications: Effect.succeed([record()]),
        envs: () => Effect.succeed([env("HOST_PORT", { hidden: "the token may not" })])
      })
      const failed = yield* init({ projectPath: directory }).pipe(Effect.provide(platform), Effect.flip)
      expect(failed).toMatchObject({ status: 409, message: expect.stringContaining("the token may not") })
      expect(yield* Effect.promise(() => readdir(directory))).toEqual(["Dockerfile"])
    }).pipe(Effect.provide(local)))

  it.scoped("does not wait for a platform that does not answer", () =>
    Effect.gen(function*() {
      const directory = yield* project("app", {})
      const silent = Layer.mock(Platform, { applications: Effect.never })
      const fiber = yield* Effect.fork(init({ projectPath: directory }).pipe(Effect.provide(silent)))
      const ended = yield* Effect.fork(Fiber.await(fiber))
      while (Option.isNone(yield* Fiber.poll(ended))) {
        yield* TestClock.adjust("1 second")
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      }
      expect((yield* Fiber.join(fiber)).created).toEqual(all)
      expect(yield* textAt(directory, ".env")).toBe("HOST_PORT=2007\n")
    }).pipe(Effect.provide(local)))

  it.scoped("changes nothing the second time, and nothing that was there", () =>
    Effect.gen(function*() {
      const mine = {
        "docker-compose.yaml": "mine",
        ".env": "A=1\n",
        "container.json": "{}",
        "build-image-tar.ps1": "exit 0",
        ".dockerignore": "*\n!src\n"
      }
      const directory = yield* project("app", mine)
      const result = yield* init({ projectPath: directory })
      expect(result).toMatchObject({
        created: [],
        kept: ["container.json", "docker-compose.yaml", ".env", "build-image-tar.ps1", ".dockerignore"]
      })
      for (const [name, text] of Object.entries(mine)) expect(yield* textAt(directory, name)).toBe(text)
      expect((yield* Effect.promise(() => readdir(directory))).length).toBe(5)
    }).pipe(Effect.provide(local)))

  it.scoped("reads the compose file of a stack, and writes only what that lacks", () =>
    Effect.gen(function*() {
      const compose = `services:
  web:
    build: ./web
    volumes: ["./nginx.conf:/etc/nginx.conf:ro", "data:/data", "./data:/own", "./gone:/gone", "../out:/out"]
  worker:
    build: { context: worker }
    volumes:
      - { type: bind, source: ./conf, target: /conf }
      - { type: volume, source: named, target: /named }
  db:
    image: postgres:17
    volumes: ["/etc/localtime:/etc/localtime", "\${HOME}/x:/x"]
`
      const directory = yield* project("stack", {
        "docker-compose.yml": compose,
        "web/Dockerfile": "FROM scratch\n",
        "worker/Dockerfile": "FROM scratch\n",
        "nginx.conf": "",
        "conf/a": "",
        "data/b": ""
      })
      const planned = yield* init({ projectPath: directory, plan: true })
      const { created, kept } = yield* init({ projectPath: directory })
      expect([planned.created, created, kept]).toEqual([["container.json"], ["container.json"], ["docker-compose.yml"]])
      expect(JSON.parse(yield* textAt(directory, "container.json"))).toMatchObject({
        files: ["web", "nginx.conf", "worker", "conf"]
      })
      expect((yield* init({ projectPath: directory })).created).toEqual([])
    }).pipe(Effect.provide(local)))

  it.scoped("writes no script beside a compose file that builds its images, also in the directory of a Dockerfile", () =>
    Effect.gen(function*() {
      const compose = "services:\n  web:\n    build: .\n    ports: [\"8080:80\"]\n  db:\n    image: postgres:17\n"
      const directory = yield* project("shop", { "compose.yml": compose, "Dockerfile": "FROM scratch\n" })
      const { builds, created, kept } = yield* init({ projectPath: directory })
      expect([builds, created, kept]).toEqual([true, ["container.json"], ["compose.yml"]])
      // One that runs the image of the script needs it.
      const scripted = yield* project("other", {
        "compose.yml": "services:\n  web:\n    image: other:latest\n",
        "Dockerfile": "FROM scratch\n"
      })
      const result = yield* init({ projectPath: scripted })
      expect([result.builds, result.created]).toEqual([undefined, expect.arrayContaining(["build-image-tar.sh"])])
      // One that runs only images of a registry would never run that of a script.
      const pulled = yield* project("pulled", {
        "compose.yml": "services:\n  web:\n    image: ghcr.io/ann/pulled:1\n  db:\n    image: postgres:17\n",
        "Dockerfile": "FROM scratch\n"
      })
      expect((yield* init({ projectPath: pulled })).created).toEqual(["container.json"])
    }).pipe(Effect.provide(local)))

  it.scoped("adds the script for a shell to the one that it wrote, and none to another", () =>
    Effect.gen(function*() {
      const directory = yield* project("app", {})
      yield* init({ projectPath: directory })
      const script = yield* textAt(directory, "build-image-tar.ps1")
      yield* Effect.promise(() => rm(join(directory, "build-image-tar.sh")))
      yield* plant(directory, { "build-image-tar.ps1": script.replaceAll("\n", "\r\n") })
      expect((yield* init({ projectPath: directory })).created).toEqual(["build-image-tar.sh"])
      expect((yield* init({ projectPath: directory })).created).toEqual([])

      for (const content of ["docker build .\n", new Uint8Array([0xff, 0xfe])]) {
        const own = yield* project("app", { "build-image-tar.sh": content })
        const { created, kept } = yield* init({ projectPath: own })
        expect(created).toEqual(["container.json", "compose.yml", ".env", ".dockerignore"])
        expect(kept).toEqual(["build-image-tar.sh"])
      }
    }).pipe(Effect.provide(local)))

  it.scoped("names a port in the compose file where an .env that is kept does not", () =>
    Effect.gen(function*() {
      const without = yield* project("app", { ".env": "A=1\n" })
      expect((yield* init({ projectPath: without })).kept).toEqual([".env"])
      expect(yield* textAt(without, "compose.yml")).toContain("${HOST_PORT:-2007}:3000")
      const withOne = yield* project("app", { ".env": "HOST_PORT=9\n" })
      yield* init({ projectPath: withOne })
      expect(yield* textAt(withOne, "compose.yml")).toContain("${HOST_PORT}:3000")
    }).pipe(Effect.provide(local)))

  it.scoped("does not write through a link that leads nowhere", () =>
    Effect.gen(function*() {
      const directory = yield* project("app", { ".env": { link: "../outside" } })
      expect((yield* init({ projectPath: directory })).kept).toEqual([".env"])
      expect(yield* Effect.promise(() => readdir(join(directory, "..")))).toEqual(["app"])
    }).pipe(Effect.provide(local)))

  it.effect("turns down what is no project path", () =>
    Effect.gen(function*() {
      expect((yield* Effect.flip(init({ projectPath: "app" }))).status).toBe(400)
    }).pipe(Effect.provide(local)))
})
