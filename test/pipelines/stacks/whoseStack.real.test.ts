import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { deploy } from "../../../src/pipelines/deploy/deploy.ts"
import { planContainers } from "../../../src/pipelines/deploy/plan.ts"
import { findContainer } from "../../../src/pipelines/exec.ts"
import { listReleases } from "../../../src/pipelines/releases/releases.ts"
import { planRollback, rollback } from "../../../src/pipelines/releases/rollback.ts"
import { executeStackAction } from "../../../src/pipelines/stacks.ts"
import { buildImage, docker, lines } from "../../fixtures/docker/docker.ts"
import { berth, onServer, project, realServer } from "../../fixtures/docker/realProject.ts"
import { patience } from "../../fixtures/patience.ts"

const put = (directory: string, files: Readonly<Record<string, string>>) =>
  Effect.sync(() => {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, name)), { recursive: true })
      writeFileSync(join(directory, name), content)
    }
  })

const hasPlugin = spawnSync("docker", ["compose", "version"]).status === 0

/** Starts a stack by hand, under a name. */
const startByHand = (directory: string, name: string, service: string, image: string) =>
  Effect.gen(function*() {
    yield* put(directory, {
      "compose.yml": `version: "3.8"
services:
  ${service}:
    image: ${image}
    stop_signal: SIGKILL
    volumes: ["kept-${service}:/kept", "./own.conf:/own.conf"]
volumes:
  kept-${service}: {}
`,
      "own.conf": service,
      ".env": `COMPOSE_PROJECT_NAME=${name}\n`
    })
    const [program, ...args] = hasPlugin ? ["docker", "compose"] : ["docker-compose"]
    const { status, stderr } = spawnSync(program ?? "", [...args, "up", "-d"], { cwd: directory, encoding: "utf8" })
    if (status !== 0) throw new Error(stderr)
    yield* Effect.addFinalizer(() =>
      Effect.ignore(Effect.sandbox(Effect.gen(function*() {
        const ids = lines(
          yield* docker("ps", "-aq", "--filter", `label=com.docker.compose.project.working_dir=${directory}`)
        )
        if (ids.length > 0) yield* docker("rm", "-fv", ...ids)
        yield* docker("volume", "rm", `${name}_kept-${service}`)
      })))
    )
  })

/** All that Docker and the file system have of what is in a directory. */
const whatIs = (directory: string) =>
  Effect.gen(function*() {
    const ids = lines(
      yield* docker(
        "ps",
        "-aq",
        "--no-trunc",
        "--filter",
        `label=com.docker.compose.project.working_dir=${directory}`
      )
    )
    const state = yield* docker(
      "inspect",
      "--format",
      "{{.Id}} {{.Name}} {{.State.Status}} {{.State.StartedAt}} {{json .HostConfig.Binds}} {{json .NetworkSettings.Networks}}",
      ...ids
    )
    return {
      state: state.split("\n").toSorted(),
      volumes: lines(yield* docker("volume", "ls", "-q", "--filter", "name=_kept-")).filter((name) =>
        state.includes(name)
      ),
      files: readdirSync(directory, { withFileTypes: true }).map((entry) =>
        entry.isFile() ? [entry.name, readFileSync(join(directory, entry.name), "utf8")] : [entry.name]
      )
    }
  })

describe.skipIf(!realServer.available)(
  realServer.title("stacks that share a name"),
  { timeout: 240_000 * patience },
  () => {
    it.scopedLive("are told apart by their directories, and nothing of the others is touched", () =>
      Effect.gen(function*() {
        const { server, user } = yield* onServer(true)
        const { answer, build, compose, directory, image, name, usual } = yield* project
        const own = `own-${name}`
        const [live, staging, named, late] = [`live/${name}`, `staging/${name}`, "named", "late"].map((path) =>
          join(user.home, path)
        )
        const place = { serverId: server.id, remotePath: `~/live/${name}` }
        const request = { ...place, projectPath: directory }
        yield* buildImage(`${name}-other`, "other")
        yield* startByHand(staging ?? "", name, "cron", `${name}-other`)
        yield* startByHand(named ?? "", name, "job", `${name}-other`)
        const others = Effect.forEach([staging ?? "", named ?? ""], whatIs)
        const before = yield* others
        expect(before.flatMap(({ state }) => state)).toHaveLength(2)
        yield* build("one")
        yield* Effect.gen(function*() {
          // Compose would take their containers for this stack's.
          const { obstacles } = yield* planContainers(request)
          expect(obstacles).toHaveLength(1)
          expect(obstacles[0]).toContain(staging)
          expect(obstacles[0]).toContain(named)
          expect(obstacles[0]).toContain(`"projectName": "live-${name}" in container.json`)
          expect((yield* Effect.flip(deploy(request))).message).toContain(obstacles[0])
          expect(existsSync(join(live ?? "", "compose.yml"))).toBe(false)
          expect(yield* others).toEqual(before)

          // A first start that fails leaves nothing.
          yield* put(directory, { "container.json": JSON.stringify({ projectName: own }) })
          const broken = ["  bad:", `    image: ${image}`, "    volumes: [\"/dev/null:/www\"]"]
          yield* compose(usual, broken)
          expect((yield* Effect.flip(deploy(request))).message).toContain("failed at start")
          expect(yield* docker("ps", "-aq", "--filter", `label=com.docker.compose.project=${own}`)).toBe("")
          expect(yield* docker("network", "ls", "-q", "--filter", `name=${own}`)).toBe("")

          yield* compose(usual)
          expect(yield* deploy(request)).toMatchObject({ success: true, healthy: true })
          expect(yield* answer).toBe("one")
          const first = yield* whatIs(live ?? "").pipe(Effect.map(({ state }) => state))
          yield* compose(usual, broken)
          expect((yield* Effect.flip(deploy(request))).message).toMatch(/The previous version is running again$/)
          expect((yield* whatIs(live ?? "")).state).toHaveLength(1)
          expect(yield* answer).toBe("one")
          expect(first).toHaveLength(1)
          yield* compose(usual)
          yield* build("two")
          yield* deploy(request)
          expect(yield* others).toEqual(before)

          // Under another name, the containers that are there are another stack's.
          yield* put(directory, { "container.json": JSON.stringify({ projectName: `${own}-2` }) })
          const renamed = yield* planContainers(request)
          expect(renamed.services).toEqual([{ name: "web", change: "create" }])
          expect(renamed.obstacles.join()).toContain(" of the service web is taken on ")
          expect(renamed.warnings.join()).toContain(`"docker compose -p ${own} down" there removes them`)
          yield* put(directory, { "container.json": JSON.stringify({ projectName: own }) })

          // Another stack comes to its name later.
          yield* startByHand(late ?? "", own, "late", `${name}-other`)
          const all = Effect.zip(others, whatIs(late ?? ""))
          const with3 = yield* all
          expect((yield* planContainers(request)).obstacles[0]).toContain(late)
          expect((yield* Effect.flip(deploy(request))).message).toContain(late)
          expect(yield* executeStackAction("restart", place)).toMatchObject({ success: true, status: "healthy" })
          expect(yield* all).toEqual(with3)
          expect(yield* executeStackAction("stop", place)).toMatchObject({ success: true, status: "exited" })
          expect(yield* all).toEqual(with3)
          expect((yield* Effect.flip(executeStackAction("start", place))).message).toContain(late)
          expect((yield* planRollback(place)).obstacles.join()).toContain(late)
          expect((yield* Effect.flip(rollback(place))).message).toContain(late)
          expect(yield* all).toEqual(with3)
          expect(yield* executeStackAction("remove", { ...place, volumes: true })).toMatchObject({ success: true })
          expect(yield* docker("ps", "-aq", "--filter", `label=com.docker.compose.project.working_dir=${live}`)).toBe(
            ""
          )
          expect(yield* all).toEqual(with3)
        }).pipe(Effect.provide(berth(server)))
      }))

    it.scopedLive("lose the containers of services that their files no longer have, unless those are to stay", () =>
      Effect.gen(function*() {
        const { server } = yield* onServer(true)
        const { answer, build, compose, directory, image, name, usual } = yield* project
        const place = { serverId: server.id, remotePath: `~/containers/${name}` }
        const request = { ...place, projectPath: directory }
        // It has the port that another service gets.
        const old = [
          "  old:",
          `    image: ${image}`,
          "    stop_signal: SIGKILL",
          `    ports: ["127.0.0.1:\${HOST_PORT}:8080"]`
        ]
        const broken = ["  bad:", `    image: ${image}`, "    volumes: [\"/dev/null:/www\"]"]
        const idOf = (service: string) =>
          docker(
            "ps",
            "-aq",
            "--no-trunc",
            "--filter",
            `label=com.docker.compose.project=${name}`,
            "--filter",
            `label=com.docker.compose.service=${service}`
          )
        const isRunning = (id: string) => docker("inspect", "--format", "{{.State.Running}}", id)
        const withoutPort = usual.slice(0, 2)
        yield* build("one")
        yield* Effect.gen(function*() {
          yield* compose(withoutPort, old)
          yield* deploy(request)
          const first = yield* idOf("old")
          expect(yield* isRunning(first)).toBe("true")

          // A start that fails leads back to it.
          yield* compose(usual, broken)
          expect((yield* Effect.flip(deploy(request))).message).toMatch(/The previous version is running again$/)
          expect(yield* idOf("old")).toBe(first)
          expect(yield* isRunning(first)).toBe("true")
          expect(yield* answer).toBe("one")

          yield* put(directory, { "container.json": "{\"keepOrphans\":true}" })
          yield* compose(withoutPort)
          expect((yield* planContainers(request)).services).toContainEqual({ name: "old", change: "keep" })
          yield* deploy(request)
          expect(yield* idOf("old")).toBe(first)
          expect(yield* isRunning(first)).toBe("true")

          // One that the version before did not have either.
          yield* put(directory, { "container.json": "{}" })
          yield* compose(usual, broken)
          expect((yield* Effect.flip(deploy(request))).message).toMatch(/The previous version is running again$/)
          expect(yield* idOf("old")).toBe(first)
          expect(yield* isRunning(first)).toBe("true")

          yield* compose(usual)
          const plan = yield* planContainers(request)
          expect(plan.obstacles).toEqual([])
          expect(plan.services).toContainEqual({ name: "old", change: "remove" })
          expect((yield* deploy(request)).message).toContain(
            "Removed the containers of old, no longer in the compose files."
          )
          expect(yield* idOf("old")).toBe("")
          expect(yield* answer).toBe("one")

          const [, , release] = yield* listReleases(server.id, place.remotePath)
          yield* rollback({ ...place, release: release?.id })
          expect(yield* isRunning(yield* idOf("old"))).toBe("true")
          expect(yield* answer).toBe("one")
        }).pipe(Effect.provide(berth(server)))
      }))

    it.scopedLive("work where their directory is reached over a link", () =>
      Effect.gen(function*() {
        const { server, user } = yield* onServer(true)
        const { answer, build, directory, name } = yield* project
        const place = { serverId: server.id, remotePath: `~/apps/${name}` }
        const request = { ...place, projectPath: directory }
        yield* Effect.sync(() => {
          mkdirSync(join(user.home, "disk/apps"), { recursive: true })
          symlinkSync(join(user.home, "disk/apps"), join(user.home, "apps"))
          spawnSync("chown", ["-hR", user.name, join(user.home, "disk"), join(user.home, "apps")])
        })
        yield* build("one")
        yield* Effect.gen(function*() {
          yield* deploy(request)
          const plan = yield* planContainers(request)
          expect(plan.obstacles).toEqual([])
          expect(plan.services).toEqual([{ name: "web", change: "keep" }])
          yield* build("two")
          yield* deploy(request)
          expect(yield* answer).toBe("two")
          expect(yield* findContainer({ server, remotePath: place.remotePath }, undefined)).toMatchObject({
            service: "web"
          })
          for (const action of ["stop", "start", "restart"] as const) {
            expect(yield* executeStackAction(action, place)).toMatchObject({ success: true })
          }
          yield* rollback(place)
          expect(yield* answer).toBe("one")
          expect(yield* executeStackAction("remove", place)).toMatchObject({ success: true })
          expect(yield* docker("ps", "-aq", "--filter", `name=${name}`)).toBe("")
        }).pipe(Effect.provide(berth(server)))
      }))
  }
)
