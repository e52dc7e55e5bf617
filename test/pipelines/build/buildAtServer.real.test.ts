import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Schedule } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { copyFile, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { build } from "../../../src/pipelines/build.ts"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { planContainers } from "../../../src/pipelines/deploy/plan.ts"
import type { ServerAccess } from "../../../src/schema/ssh.ts"
import { Runs } from "../../../src/services/runs/Runs.ts"
import { Settings } from "../../../src/services/settings/Settings.ts"
import { localProcessesTest } from "../../../src/testing/LocalFilesTest.ts"
import { docker, lines, testLabel, uniqueName } from "../../fixtures/docker/docker.ts"
import { berth, onServer, realServer } from "../../fixtures/docker/realProject.ts"
import { patience } from "../../fixtures/patience.ts"
import { plant } from "../../layers/temporary.ts"

const title = realServer.title("builds of a compose file at a real server")
const busybox = ["/bin/busybox", "/usr/bin/busybox"].find(existsSync) ?? ""
const must = <A>(make: () => Promise<A>) => Effect.promise(make)

const dockerfile = (name: string) =>
  [
    "FROM scratch AS base",
    `LABEL ${testLabel}=${name}`,
    "COPY bin/busybox /bin/busybox",
    "ARG GREETING",
    "ENV GREETING=$GREETING",
    "CMD [\"/bin/busybox\", \"sleep\", \"1000000\"]",
    "FROM base AS app",
    "COPY . /app/",
    ""
  ].join("\n")

/** A project with a context that has links, a pipe, long names, and patterns that take files back. */
const project = Effect.gen(function*() {
  const root = yield* Effect.acquireRelease(
    must(() => mkdtemp(join(tmpdir(), "berth-builds-"))),
    (path) => must(() => rm(path, { recursive: true, force: true }))
  )
  const name = yield* uniqueName("berth-test")
  const directory = join(root, "project")
  const long = "deep/".repeat(30)
  yield* plant(directory, {
    "compose.yml": [
      "services:",
      "  web:",
      "    build: { context: web, dockerfile: docker/App.dockerfile, target: app, args: { GREETING: \"${GREETING}\" } }",
      "    stop_signal: SIGKILL",
      ""
    ].join("\n"),
    ".env": "GREETING=a 'b' $$(touch /tmp/berth-never) `id`\n",
    "container.json": JSON.stringify({ build: { at: "target" } }),
    "web/docker/App.dockerfile": dockerfile(name),
    "web/index.html": "one",
    "web/notes.md": "ignored",
    "web/keep.md": "taken back",
    "web/cache/a/one.txt": "ignored",
    "web/cache/a/keep/two.txt": "taken back",
    [`web/${long}${"n".repeat(120)}`]: "long",
    "web/gr\u00fc\u00dfe.txt": "hello",
    "web/.dockerignore":
      "# what stays here\n*.md\n!keep.md\ncache\n!cache/a/keep\ndocker\n.dockerignore\nbin\n!bin/busybox\n"
  })
  yield* must(() => plant(join(directory, "web"), { "bin/unused": "x" }).pipe(Effect.runPromise))
  yield* must(() => copyFile(busybox, join(directory, "web/bin/busybox")))
  yield* must(() => symlink("/etc/passwd", join(directory, "web/outside")))
  yield* must(() => symlink("n".repeat(150), join(directory, "web/dangling")))
  spawnSync("mkfifo", [join(directory, "web/pipe")])
  // Docker rounds nanoseconds to seconds, Node rounds them to milliseconds first: just below half a second they differ.
  spawnSync("find", [join(directory, "web"), "-exec", "touch", "-h", "-d", "2026-01-02T03:04:05.25Z", "{}", "+"])
  yield* Effect.addFinalizer(() =>
    Effect.ignore(Effect.sandbox(Effect.gen(function*() {
      const containers = lines(yield* docker("ps", "-aq", "--filter", `label=com.docker.compose.project=${name}`))
      if (containers.length > 0) yield* docker("rm", "-fv", ...containers)
      yield* docker("network", "rm", `${name}_default`).pipe(Effect.sandbox, Effect.ignore)
      const images = lines(yield* docker("image", "ls", "-q", "--no-trunc", "--filter", `label=${testLabel}=${name}`))
      if (images.length > 0) yield* docker("image", "rm", "-f", ...new Set(images))
    })))
  )
  return {
    root,
    directory,
    name,
    settings: join(root, "settings", "berth.yaml"),
    write: (file: string, text: string) => must(() => writeFile(join(directory, file), text))
  }
})

/** Berth without any program of this machine. */
const berthWith = (server: ServerAccess, file: string, others: ReadonlyArray<ServerAccess> = []) => {
  const placed = Layer.effect(Settings, Effect.map(Settings, (settings) => ({ ...settings, file })))
  const settings = { "deploy.healthTimeout": Duration.seconds(20) }
  return Layer.provideMerge(Layer.merge(placed, localProcessesTest({})), berth(server, settings, others))
}

const list = [
  "cd /app",
  "/bin/busybox find . | /bin/busybox sort | /bin/busybox xargs /bin/busybox stat -c '%A %u:%g %N'",
  "/bin/busybox find . -type f | /bin/busybox sort | /bin/busybox xargs /bin/busybox stat -c '%Y %n'",
  "/bin/busybox find . -type f | /bin/busybox sort | /bin/busybox xargs /bin/busybox md5sum"
].join(" && ")
/** Everything in an image below /app, with types, permissions and targets, and of files the time and the content. */
const listing = (image: string) => docker("run", "--rm", "--network", "none", image, "/bin/busybox", "sh", "-c", list)

const leftovers = Effect.map(
  must(() => readdir(tmpdir())),
  (names) => names.filter((name) => name.startsWith("tmp."))
)

describe.skipIf(!realServer.available)(title, { timeout: 120_000 * patience }, () => {
  it.scopedLive("deploys what its target built, and keeps the cache there", () =>
    Effect.gen(function*() {
      const { server } = yield* onServer(true)
      const { directory, name, root, settings, write } = yield* project
      const temporary = yield* leftovers
      const request = { projectPath: directory, serverId: server.id, remotePath: `~/containers/${name}` }
      const idOf = (service: string) =>
        docker("ps", "-q", "--filter", `name=${name}`, "--filter", `label=com.docker.compose.service=${service}`)
      yield* Effect.gen(function*() {
        expect(yield* planContainers(request)).toMatchObject({ buildAt: "Main" })
        expect(yield* deploy({ ...request, build: true })).toMatchObject({
          success: true,
          healthy: true,
          uploadedFiles: ["compose.yml", ".env"]
        })
        const container = yield* idOf("web")
        const image = yield* docker("inspect", "--format", "{{.Image}}", container)
        expect(yield* docker("exec", container, "/bin/busybox", "sh", "-c", "echo \"$GREETING\""))
          .toBe("a 'b' $(touch /tmp/berth-never) `id`")
        expect(existsSync("/tmp/berth-never")).toBe(false)

        const own = `${name}:own`
        const web = join(directory, "web")
        // The pipe alone differs: Docker makes one in the image.
        yield* must(() => rm(join(web, "pipe")))
        yield* docker(
          "build",
          "-q",
          "--no-cache",
          "-t",
          own,
          "-f",
          join(web, "docker/App.dockerfile"),
          "--target",
          "app",
          web
        )
        expect(yield* listing(image)).toBe(yield* listing(own))

        expect(yield* planContainers(request)).toMatchObject({
          obstacles: [],
          bytesToSend: 0,
          images: [{ name: `${name}_web:latest`, change: "same", platform: expect.stringMatching(/^linux\//) }],
          services: [{ change: "keep" }]
        })
        yield* write("web/index.html", "two")
        const built = yield* build({ projectPath: directory }).pipe(
          Effect.flip,
          Effect.map(({ message }) => message)
        )
        expect(built).toMatch(/container\.json: build\.at is "target", and container\.json names no server/)
        yield* write("container.json", JSON.stringify({ serverId: server.id, build: { at: "target" } }))
        const again = yield* build({ projectPath: directory })
        expect(again).toMatchObject({ success: true, images: [{ services: ["web"] }] })
        expect(again.output).toContain("Using cache")
        expect(yield* deploy(request)).toMatchObject({ success: true, uploadedFiles: [] })
        expect(yield* docker("exec", yield* idOf("web"), "/bin/busybox", "cat", "/app/index.html")).toBe("two")

        yield* docker("rm", "-fv", yield* idOf("web"))
        const now = again.images?.[0]?.id ?? ""
        yield* docker("image", "rm", "-f", now)
        expect((yield* planContainers(request)).obstacles).toContainEqual(
          expect.stringMatching(/"Main" has built the image .*, and no longer has it: build it again/)
        )
      }).pipe(Effect.provide(berthWith(server, settings)))
      expect(yield* leftovers).toEqual(temporary)
      expect(yield* must(() => readdir(root))).toEqual(["project", "settings"])
    }))

  it.scopedLive("fetches what another server built, and sends its layers", () =>
    Effect.gen(function*() {
      const { server } = yield* onServer(false)
      const { directory, name, settings, write } = yield* project
      const builder: ServerAccess = { ...server, id: "builder", name: "Builder" }
      yield* write("container.json", JSON.stringify({ build: { at: "builder" } }))
      const request = { projectPath: directory, serverId: server.id, remotePath: `~/containers/${name}` }
      yield* Effect.gen(function*() {
        expect(yield* planContainers(request)).toMatchObject({ buildAt: "Builder" })
        expect(yield* build({ projectPath: directory })).toMatchObject({ success: true })
        const images = lines(yield* docker("image", "ls", "-q", "--no-trunc", "--filter", `label=${testLabel}=${name}`))
        yield* docker("image", "rm", "-f", ...new Set(images))
        const plan = yield* planContainers(request)
        expect(plan).toMatchObject({ obstacles: [], images: [{ change: "new" }] })
        expect(plan.bytesToSend).toBeGreaterThan(500_000)
        expect(yield* deploy(request)).toMatchObject({ success: true, healthy: true })

        const tool = "  tool: { build: { context: web, dockerfile: docker/App.dockerfile, target: base } }\n"
        const compose = yield* must(() => readFile(join(directory, "compose.yml"), "utf8"))
        yield* write("compose.yml", compose + tool)
        const without = yield* build({ projectPath: directory, service: "tool", noCache: true })
        expect(without.output).toMatch(/No image of web from an earlier build at "Builder": build it too/)
        expect(without.output).not.toContain("Using cache")
        yield* build({ projectPath: directory, service: "web" })
        const beside = yield* build({ projectPath: directory, service: "tool" })
        expect(beside.images?.map(({ services }) => services)).toEqual([["tool"]])
        expect(beside.output).not.toContain("No image")
        const both = yield* planContainers(request)
        expect(both.obstacles).toEqual([])
        expect(both.images.map(({ name: image }) => image)).toEqual([`${name}_web:latest`, `${name}_tool:latest`])
        yield* write("container.json", JSON.stringify({ build: { at: "bilder" } }))
        const refused = yield* Effect.flip(planContainers(request))
        expect(refused).toMatchObject({ status: 422 })
        expect(refused.message).toMatch(/container\.json: build\.at must be "here", "target" or a server: .*"bilder"/)
      }).pipe(Effect.provide(berthWith(server, settings, [builder])))
    }))

  it.scopedLive("leaves no process there when it is cancelled, and tells why a build failed", () =>
    Effect.gen(function*() {
      const { server } = yield* onServer(true)
      const { directory, name, settings, write } = yield* project
      const temporary = yield* leftovers
      const seconds = String(1_000_000 + Math.floor(Math.random() * 1_000_000))
      const found = (pattern: string) => Effect.sync(() => spawnSync("pgrep", ["-f", pattern]).stdout.toString().trim())
      // Deploys of other tests hold their locks with a `dd`, too.
      const isOwn = (pid: string) => {
        const environment = `/proc/${pid}/environ`
        return existsSync(environment) &&
          new RegExp(`SSH_CONNECTION=\\S+ \\d+ \\S+ ${server.port}\0`).test(
            spawnSync("cat", [environment]).stdout.toString()
          )
      }
      const ownReaders = Effect.map(found("dd bs="), (pids) => pids.split("\n").filter(isOwn).join("\n"))
      const until = (pids: Effect.Effect<string>, holds: (pids: string) => boolean) =>
        Effect.repeat(pids, { until: holds, schedule: Schedule.spaced("100 millis") }).pipe(
          Effect.timeout("20 seconds")
        )
      const isNone = (pids: string) => pids === ""
      const file = "web/docker/App.dockerfile"
      yield* write("container.json", JSON.stringify({ serverId: server.id, build: { at: "target" } }))
      yield* write(file, dockerfile(name).replace("ARG", `RUN ["/bin/busybox", "sleep", "${seconds}"]\nARG`))
      yield* Effect.gen(function*() {
        const started = yield* Effect.fork(build({ projectPath: directory }))
        const run = yield* Effect.flatMap(Runs, (runs) => runs.list({})).pipe(
          Effect.flatMap(({ runs: [run] }) => Effect.fromNullable(run)),
          Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 100 })
        )
        yield* until(found(`busybox sleep ${seconds}`), (pids) => pids !== "")
        yield* until(ownReaders, (pids) => pids !== "")
        yield* Effect.flatMap(Runs, (runs) => runs.cancel(run.id))
        expect((yield* Effect.exit(Fiber.join(started)))._tag).toBe("Failure")
        yield* until(found(`busybox sleep ${seconds}|docker build .*${name}`), isNone)
        yield* until(ownReaders, isNone)
        expect((yield* Effect.flatMap(Runs, (runs) => runs.get(run.id))).state).toBe("cancelled")

        yield* write(file, "FROM scratch AS app\nCOPY absent /\n")
        const failed = yield* build({ projectPath: directory })
        expect(failed).toMatchObject({ success: false, images: [] })
        expect(failed.output).toMatch(/absent/)
        yield* until(ownReaders, isNone)
      }).pipe(Effect.provide(berthWith(server, settings)))
      expect(yield* leftovers).toEqual(temporary)
    }))
})
