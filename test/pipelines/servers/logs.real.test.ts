import { describe, expect, it } from "@effect/vitest"
import { Chunk, Effect, Stream } from "effect"
import { join } from "node:path"
import { followLogs, logs, type LogsQuery } from "../../../src/pipelines/servers/logs.ts"
import { listContainers } from "../../../src/pipelines/servers/servers.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"
import { buildImage, docker, uniqueName } from "../../fixtures/docker/docker.ts"
import { realServer } from "../../fixtures/docker/realProject.ts"
import { run } from "../../fixtures/network/openssh.ts"
import { sshdWorld } from "../../fixtures/network/servers.ts"
import { patience } from "../../fixtures/patience.ts"
import { inTurn } from "../../fixtures/thorough.ts"
import { liveSsh } from "../../services/ssh/live.ts"

const stack = (image: string, name: string) => `
version: "2.4"
services:
  early:
    image: ${image}
    container_name: ${name}-early
    command: ["/bin/busybox", "sh", "-c", "echo e1; /bin/busybox sleep 1; echo e2 >&2; /bin/busybox sleep 4; echo e3; /bin/busybox sleep 600"]
    stop_grace_period: 0s
  late:
    image: ${image}
    container_name: ${name}-late
    command: ["/bin/busybox", "sh", "-c", "/bin/busybox sleep 2; echo l1 >&2; /bin/busybox sleep 600"]
    stop_grace_period: 0s
`

/** Ways in which the users of these tests reach Docker. */
const ways = [
  { name: "as a member of the group docker", options: { groups: ["docker"] } },
  { name: "through sudo with a password", options: { sudo: "password" } }
] as const

describe.skipIf(!realServer.available).each(inTurn(ways, 0))(
  realServer.title("logs of a real Docker, $name"),
  ({ options }) => {
    it.scopedLive("shows both streams of a container, and the containers that run", () =>
      Effect.gen(function*() {
        const { access } = yield* sshdWorld.server(options)
        const image = yield* uniqueName("berth-logs")
        yield* buildImage(image, "hello")
        const script =
          "for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done; echo 'ü € $(x)'; exec /bin/busybox sleep 600"
        yield* Effect.acquireRelease(
          docker("run", "-d", "--network", "none", "--name", image, image, "/bin/busybox", "sh", "-c", script),
          () => docker("rm", "-f", image)
        )
        yield* Effect.gen(function*() {
          const all = yield* logs("server", { containerName: image }).pipe(
            Effect.repeat({ until: (text) => text.includes("ü") })
          )
          // Two pipes lead from the container to Docker: only the order within each of them is certain.
          expect(all.trimEnd().split("\n").sort()).toEqual(
            [...[1, 2, 3, 4, 5].flatMap((n) => [`out ${n}`, `err ${n}`]), "ü € $(x)"].sort()
          )
          expect((yield* logs("server", { containerName: image, lines: "3" })).trimEnd().split("\n")).toHaveLength(3)
          const running = (yield* listContainers("server")).find(({ name }) => name === image)
          expect(running).toEqual({ name: image, status: expect.stringMatching(/^Up /), ports: "" })
          const error = yield* Effect.flip(logs("server", { containerName: `${image}-none` }))
          expect(error.message).toMatch(/^Failed to get logs: .*No such container/)
        }).pipe(Effect.provide([liveSsh(), settingsTest({}, [access])]))
      }), 120_000 * patience)

    it.scopedLive("shows the last lines of a whole stack", () =>
      Effect.gen(function*() {
        const { access, home, plant } = yield* sshdWorld.server(options)
        const image = yield* uniqueName("berth-stack")
        yield* buildImage(image, "hello")
        yield* plant({ "containers/my app/docker-compose.yml": stack(image, image) })
        const directory = join(home, "containers", "my app")
        const compose = (...args: ReadonlyArray<string>) =>
          run("sh", [
            "-c",
            "cd \"$1\" && shift && if docker compose version >/dev/null 2>&1; then docker compose \"$@\"; else docker-compose \"$@\"; fi",
            "sh",
            directory,
            ...args
          ])
        yield* Effect.acquireRelease(Effect.orDie(compose("up", "-d")), () => Effect.ignore(compose("down", "-t", "0")))
        yield* Effect.gen(function*() {
          const asked = { remotePath: "~/containers/my app" }
          const texts = (text: string) => text.trimEnd().split("\n").map((line) => line.replace(/^[^|]*\| ?/, ""))
          const all = yield* logs("server", asked).pipe(
            Effect.repeat({ until: (text) => texts(text).includes("e3") && texts(text).includes("l1") })
          )
          expect(texts(all)).toEqual(["e1", "e2", "l1", "e3"])
          expect(texts(yield* logs("server", { ...asked, lines: "2" }))).toEqual(["l1", "e3"])
          expect(texts(yield* logs("server", { ...asked, service: "late" }))).toEqual(["l1"])
          expect((yield* Effect.flip(logs("server", { ...asked, service: "later" }))).message).toMatch(
            /no such service/i
          )
          expect(texts(yield* logs("server", { ...asked, lines: "1", contains: "E" }))).toEqual(["e3"])
          expect(yield* logs("server", { ...asked, until: "1d" })).toBe("")

          // An ended container keeps its last lines, alone and as a stack.
          yield* Effect.orDie(compose("stop"))
          expect(texts(yield* logs("server", asked))).toEqual(["e1", "e2", "l1", "e3"])
          expect((yield* logs("server", { containerName: `${image}-early` })).split("\n")).toContain("e3")
          const names = (list: ReadonlyArray<{ readonly name: string }>) => list.map(({ name }) => name)
          expect(names(yield* listContainers("server"))).not.toContain(`${image}-early`)
          expect(names(yield* listContainers("server", { all: true }))).toContain(`${image}-early`)
          const followed = (query: LogsQuery) =>
            Effect.scoped(Effect.flatMap(followLogs("server", query), Stream.runCollect)).pipe(
              Effect.map((events) =>
                Chunk.toReadonlyArray(events).map((event) => event.event === "line" ? event.data.text : event.event)
              )
            )
          expect(yield* followed({ ...asked, until: "0s" })).toEqual(["e1", "e2", "l1", "e3", "end"])
          expect(yield* followed({ ...asked, until: "0s", contains: "E", lines: "2" })).toEqual(["e2", "e3", "end"])
          const soon = new Date(Date.now() + 1_500).toISOString()
          expect(yield* followed({ containerName: `${image}-late`, until: soon })).toEqual(["l1", "end"])

          const error = yield* Effect.flip(logs("server", { remotePath: "~/containers/none" }))
          expect(error.message).toMatch(/^Failed to get logs: there is no stack at ~\/containers\/none on /)
          const bare = yield* Effect.flip(logs("server", { remotePath: "~/.ssh" }))
          expect(bare.message).toMatch(/^Failed to get logs: there is no stack at ~\/\.ssh on /)
        }).pipe(Effect.provide([liveSsh(), settingsTest({}, [access])]))
      }), 120_000 * patience)
  }
)
