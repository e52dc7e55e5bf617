import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Schedule } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { copyFile, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { build } from "../../../src/pipelines/build.ts"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { planContainers } from "../../../src/pipelines/deploy/plan.ts"
import { listReleases } from "../../../src/pipelines/releases/releases.ts"
import { rollback } from "../../../src/pipelines/releases/rollback.ts"
import type { ServerAccess } from "../../../src/schema/ssh.ts"
import { Runs } from "../../../src/services/runs/Runs.ts"
import { Settings } from "../../../src/services/settings/Settings.ts"
import { docker, lines, testLabel, uniqueName } from "../../fixtures/docker/docker.ts"
import { berth, onServer, realServer } from "../../fixtures/docker/realProject.ts"
import { patience } from "../../fixtures/patience.ts"
import { plant } from "../../layers/temporary.ts"

const title = realServer.title("builds of a compose file on a real server")
const busybox = ["/bin/busybox", "/usr/bin/busybox"].find(existsSync) ?? ""
const must = <A>(make: () => Promise<A>) => Effect.promise(make)
process.env["DOCKER_BUILDKIT"] ??= "0"

const dockerfile = (name: string) =>
  [
    "FROM scratch AS base",
    // First, so that the builder takes no newer layer of another project's from its cache.
    `LABEL ${testLabel}=${name}`,
    "COPY busybox /bin/busybox",
    "ARG GREETING",
    "ENV GREETING=$GREETING",
    "CMD [\"/bin/busybox\", \"sleep\", \"1000000\"]",
    "FROM base AS app",
    "COPY . /app/",
    "FROM base AS never",
    "COPY missing /missing",
    ""
  ].join("\n")

const compose = (greeting = "${GREETING}") => `
services:
  web:
    build: { context: web, target: app, args: { GREETING: "${greeting}" } }
    stop_signal: SIGKILL
  worker:
    build: { context: web, target: app, args: [ "GREETING=${greeting}" ] }
    stop_signal: SIGKILL
  tool:
    build: { context: web, dockerfile: other/Dockerfile.tool }
    image: TOOL
    stop_signal: SIGKILL
`

/** A project of three services with `build:`, two of which share a section. */
const project = Effect.gen(function*() {
  const directory = yield* Effect.acquireRelease(
    must(() => mkdtemp(join(tmpdir(), "berth-builds-"))),
    (path) => must(() => rm(path, { recursive: true, force: true }))
  )
  const name = yield* uniqueName("berth-test")
  const write = (file: string, text: string) => must(() => writeFile(join(directory, "project", file), text))
  yield* plant(join(directory, "project"), {
    "compose.yml": compose().replace("TOOL", `${name}-tools`),
    ".env": "GREETING=hello world\n",
    "web/Dockerfile": dockerfile(name),
    "web/other/Dockerfile.tool": dockerfile(name).split("FROM base AS app")[0] ?? "",
    "web/index.html": "one",
    "web/notes.md": "not for the image",
    "web/keep.md": "for it",
    "web/.dockerignore": "*.md\n!keep.md\nother\n"
  })
  yield* must(() => copyFile(busybox, join(directory, "project", "web", "busybox")))
  yield* Effect.addFinalizer(() =>
    Effect.ignore(Effect.sandbox(Effect.gen(function*() {
      const containers = lines(yield* docker("ps", "-aq", "--filter", `label=com.docker.compose.project=${name}`))
      if (containers.length > 0) yield* docker("rm", "-fv", ...containers)
      yield* docker("network", "rm", `${name}_default`).pipe(Effect.sandbox, Effect.ignore)
      const images = lines(yield* docker("image", "ls", "-q", "--no-trunc", "--filter", `label=${testLabel}=${name}`))
      if (images.length > 0) yield* docker("image", "rm", "-f", ...new Set(images))
    })))
  )
  /** Removes names that the build or the deploy gave, as the Docker here is the server's too. */
  const forget = (...prefixes: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      const format = "{{.Repository}}:{{.Tag}}"
      const all = lines(
        yield* docker("image", "ls", "--format", format, "--filter", `label=${testLabel}=${name}`)
      )
      const names = all.filter((each) => prefixes.some((prefix) => each.startsWith(prefix)))
      if (names.length > 0) yield* docker("image", "rm", "-f", ...names)
    })
  return {
    directory: join(directory, "project"),
    settings: join(directory, "settings", "berth.yaml"),
    name,
    write,
    forget
  }
})

const berthWith = (server: ServerAccess, file: string) => {
  const placed = Layer.effect(Settings, Effect.map(Settings, (settings) => ({ ...settings, file })))
  return Layer.provideMerge(placed, berth(server, { "deploy.healthTimeout": Duration.seconds(20) }))
}

describe.skipIf(!realServer.available)(title, { timeout: 180_000 * patience }, () => {
  it.scopedLive("deploys what was built, each section once, and goes back", () =>
    Effect.gen(function*() {
      const { server } = yield* onServer(true)
      const { directory, forget, name, settings, write } = yield* project
      const before = yield* must(() => readdir(directory, { recursive: true }))
      const place = { serverId: server.id, remotePath: `~/containers/${name}` }
      const request = { projectPath: directory, ...place }
      const containers = Effect.map(
        docker(
          "ps",
          "-a",
          "--no-trunc",
          "--filter",
          `label=com.docker.compose.project=${name}`,
          "--format",
          "{{.Label \"com.docker.compose.service\"}} {{.ID}}"
        ),
        (printed) => [...lines(printed)].sort()
      )
      const inside = (service: string, ...command: ReadonlyArray<string>) =>
        Effect.flatMap(containers, (all) =>
          docker("exec", all.find((line) => line.startsWith(`${service} `))?.split(" ")[1] ?? "", ...command))
      yield* Effect.gen(function*() {
        const unbuilt = yield* planContainers(request)
        expect(unbuilt.obstacles).toContainEqual(expect.stringMatching(
          /^the service web in compose\.yml has "build: web", .*"Main" does not have its image berth-test-\w+_web:latest: build it first \(berth deploy --build\)/
        ))

        const built = yield* build({ projectPath: directory })
        expect(built.output).not.toContain("hello world")
        expect(built).toMatchObject({ success: true, tarFile: null, exitCode: 0 })
        expect(built.images?.map(({ platform, services }) => [services, platform])).toEqual([
          [["web", "worker"], expect.stringMatching(/^linux\//)],
          [["tool"], expect.stringMatching(/^linux\//)]
        ])
        expect(
          yield* must(() =>
            readdir(directory, { recursive: true })
          )
        ).toEqual(before)

        yield* forget("berth/build:", name)
        const plan = yield* planContainers(request)
        expect(plan.obstacles).toEqual([])
        expect(plan.images.map(({ change, name }) => [name, change])).toEqual([
          [`${name}_web:latest`, "new"],
          [`${name}_worker:latest`, "new"],
          [`${name}-tools:latest`, "new"]
        ])
        expect(plan.bytesToSend).toBeGreaterThan(500_000)
        const deployed = yield* deploy({ ...request, planHash: plan.planHash })
        expect(deployed).toMatchObject({ success: true, healthy: true })
        expect(yield* inside("web", "/bin/busybox", "ls", "/app")).toBe("Dockerfile\nbusybox\nindex.html\nkeep.md")
        expect(yield* inside("web", "/bin/busybox", "sh", "-c", "echo $GREETING")).toBe("hello world")

        // The builder's cache went with its images. From here on it stays.
        expect(yield* deploy({ ...request, build: true })).toMatchObject({ success: true })
        const first = yield* containers
        yield* write("web/index.html", "two")
        expect(yield* deploy({ ...request, build: true })).toMatchObject({ success: true, healthy: true })
        expect(yield* inside("worker", "/bin/busybox", "cat", "/app/index.html")).toBe("two")
        const second = yield* containers
        expect(second.filter((line) => first.includes(line)).map((line) => line.split(" ")[0])).toEqual(["tool"])
        expect(yield* planContainers(request)).toMatchObject({
          bytesToSend: 0,
          services: [{ change: "keep" }, { change: "keep" }, { change: "keep" }]
        })

        // Only the layer that changed is sent to a server without the builder's images.
        yield* write("web/keep.md", "for all of them")
        yield* build({ projectPath: directory })
        yield* forget("berth/build:")
        const part = yield* planContainers(request)
        expect(part.bytesToSend).toBeGreaterThan(0)
        expect(part.bytesToSend).toBeLessThan(part.bytesTotal / 1.5)
        expect(yield* deploy({ ...request, planHash: part.planHash })).toMatchObject({ success: true, healthy: true })
        expect(yield* inside("web", "/bin/busybox", "cat", "/app/keep.md")).toBe("for all of them")

        expect(yield* rollback(place)).toMatchObject({ success: true })
        expect(yield* inside("web", "/bin/busybox", "cat", "/app/keep.md")).toBe("for it")
        expect(yield* listReleases(server.id, place.remotePath)).toHaveLength(5)
        expect(yield* must(() => readdir(directory, { recursive: true }))).toEqual(before)
      }).pipe(Effect.provide(berthWith(server, settings)))
    }))

  it.scopedLive("leaves no process behind when it is cancelled, and builds again afterwards", () =>
    Effect.gen(function*() {
      const { server } = yield* onServer(true)
      const { directory, name, settings, write } = yield* project
      const seconds = String(1_000_000 + Math.floor(Math.random() * 1_000_000))
      const sleepers = Effect.sync(() =>
        spawnSync("pgrep", ["-f", `busybox sleep ${seconds}`]).stdout.toString().trim()
      )
      yield* write(
        "web/Dockerfile",
        dockerfile(name).replace("ARG", `RUN ["/bin/busybox", "sleep", "${seconds}"]\nARG`)
      )
      yield* Effect.gen(function*() {
        const started = yield* Effect.fork(build({ projectPath: directory }))
        const run = yield* Effect.flatMap(Runs, (runs) => runs.list({})).pipe(
          Effect.flatMap(({ runs: [run] }) => Effect.fromNullable(run)),
          Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 100 })
        )
        yield* Effect.repeat(sleepers, { until: (found) => found !== "", schedule: Schedule.spaced("100 millis") })
        yield* Effect.flatMap(Runs, (runs) => runs.cancel(run.id))
        expect((yield* Effect.exit(Fiber.join(started)))._tag).toBe("Failure")
        yield* Effect.repeat(sleepers, { until: (found) => found === "", schedule: Schedule.spaced("100 millis") })
          .pipe(Effect.timeout("20 seconds"))
        expect((yield* Effect.flatMap(Runs, (runs) => runs.get(run.id))).state).toBe("cancelled")
        yield* write("web/Dockerfile", dockerfile(name))
        const again = yield* build({ projectPath: directory })
        expect(again.success ? "" : again.output).toBe("")
      }).pipe(Effect.provide(berthWith(server, settings)))
    }))
})
