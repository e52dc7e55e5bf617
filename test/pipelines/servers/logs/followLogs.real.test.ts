import { describe, expect, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Option, Stream } from "effect"
import { join } from "node:path"
import { followLogs, logs } from "../../../../src/pipelines/servers/logs.ts"
import { stats } from "../../../../src/pipelines/servers/servers.ts"
import { settingsTest } from "../../../../src/testing/SettingsTest.ts"
import { buildImage, docker, uniqueName } from "../../../fixtures/docker/docker.ts"
import { realServer } from "../../../fixtures/docker/realProject.ts"
import { run } from "../../../fixtures/network/openssh.ts"
import { sshdWorld } from "../../../fixtures/network/servers.ts"
import { patience } from "../../../fixtures/patience.ts"
import { liveHeap } from "../../../fixtures/programs/heap.ts"
import { inTurn } from "../../../fixtures/thorough.ts"
import { eventually, liveSsh } from "../../../services/ssh/live.ts"

const ways = [
  { name: "as a member of the group docker", options: { groups: ["docker"] } },
  { name: "through sudo with a password", options: { sudo: "password" } }
] as const

const compose = (directory: string, ...args: ReadonlyArray<string>) =>
  run("sh", [
    "-c",
    "cd \"$1\" && shift && if docker compose version >/dev/null 2>&1; then docker compose \"$@\"; else docker-compose \"$@\"; fi",
    "sh",
    directory,
    ...args
  ])

/** Counts `docker logs` and `docker events` processes of a container or directory. */
const followers = (of: string) =>
  Effect.map(
    Effect.promise(() =>
      Effect.runPromise(Effect.orDie(run("sh", ["-c", "ps -eo args | grep -c \"[d]ocker .*$1\" || :", "sh", of])))
    ),
    (output) => Number(String(output).trim())
  )

describe.skipIf(!realServer.available).each(inTurn(ways, 1))(
  realServer.title("following logs of a real Docker, $name"),
  ({ options }) => {
    it.scopedLive(
      "shows every line of a stack with its service, stream and time, through a restart, and ends on the server",
      () =>
        Effect.gen(function*() {
          const { access, home, plant } = yield* sshdWorld.server(options)
          const image = yield* uniqueName("berth-follow")
          yield* buildImage(image, "hello")
          const service = (name: string) =>
            `  ${name}:
    image: ${image}
    container_name: ${image}-${name}
    command: ["/bin/busybox", "sh", "-c", "echo ${name} begins; echo ${name} complains >&2; /bin/busybox sleep 600"]
    stop_grace_period: 0s
`
          yield* plant({ "containers/app/compose.yml": `version: "2.4"\nservices:\n${service("web")}${service("db")}` })
          const directory = join(home, "containers", "app")
          yield* Effect.acquireRelease(
            Effect.orDie(compose(directory, "-f", "compose.yml", "up", "-d")),
            () => Effect.ignore(compose(directory, "-f", "compose.yml", "down", "-t", "0"))
          )
          yield* Effect.gen(function*() {
            const asked = { remotePath: "~/containers/app" }
            const reading = yield* Effect.scoped(Effect.gen(function*() {
              const events = yield* followLogs("server", asked)
              const fiber = yield* events.pipe(Stream.take(6), Stream.runCollect, Effect.fork)
              yield* Effect.sleep("1500 millis")
              yield* docker("restart", "-t", "0", `${image}-web`)
              return yield* Fiber.join(fiber)
            }))
            const seen = Chunk.toReadonlyArray(reading).flatMap((event) => event.event === "line" ? [event.data] : [])
            const lines = (name: string, stream: string, text: string) => ({
              service: name,
              stream,
              text,
              time: expect.stringMatching(/^\d{4}-.*Z$/)
            })
            expect(seen).toHaveLength(6)
            for (const name of ["db", "web"]) {
              expect(seen).toContainEqual(lines(name, "stdout", `${name} begins`))
              expect(seen).toContainEqual(lines(name, "stderr", `${name} complains`))
            }
            expect(seen.slice(4).map(({ service }) => service)).toEqual(["web", "web"])
            yield* eventually(followers(directory), (count) => count === 0).pipe(Effect.timeout("1 second"))

            // By their times, the lines of the restart are the younger ones.
            const since = seen.at(-1)?.time.slice(0, 23) ?? ""
            const younger = yield* logs("server", { ...asked, since: `${since}Z`, timestamps: "true" })
            expect(younger).toContain("web")
            expect(younger).not.toContain("db begins")
            expect(yield* logs("server", { ...asked, since: "1h" })).toContain("db begins")

            const usage = (yield* stats("server")).find(({ name }) => name === `${image}-db`)
            expect(usage).toMatchObject({ service: "db", restarts: 0 })
            expect(usage?.memoryBytes).toBeGreaterThan(0)
            expect(usage?.memoryLimitBytes).toBeGreaterThan(usage?.memoryBytes ?? 0)
            const ofOne = yield* Effect.scoped(Effect.gen(function*() {
              const events = yield* followLogs("server", { ...asked, service: "db" })
              yield* docker("restart", "-t", "0", `${image}-web`)
              const fiber = yield* events.pipe(Stream.take(4), Stream.runCollect, Effect.fork)
              yield* Effect.sleep("1500 millis")
              yield* docker("restart", "-t", "0", `${image}-db`)
              return yield* Fiber.join(fiber)
            }))
            expect(Chunk.toReadonlyArray(ofOne).map((event) => event.event === "line" ? event.data.service : ""))
              .toEqual(
                Array.from({ length: 4 }, () => "db")
              )
            const nothing = yield* Effect.flip(Effect.scoped(followLogs("server", { ...asked, service: "cache" })))
            expect(nothing.message).toMatch(/^There is no service "cache" of the stack at /)
            const none = yield* Effect.flip(Effect.scoped(followLogs("server", { remotePath: "~/containers/none" })))
            expect(none.message).toBe(
              "There is no stack at ~/containers/none on \"Test\": a scan of the server lists what is deployed there"
            )
          }).pipe(Effect.provide([liveSsh(), settingsTest({}, [access])]))
        }),
      150_000 * patience
    )

    it.scopedLive("tells a slow reader of a thousand lines a second how many it missed", () =>
      Effect.gen(function*() {
        const { access } = yield* sshdWorld.server(options)
        const image = yield* uniqueName("berth-flood")
        yield* buildImage(image, "hello")
        const flood = "while :; do /bin/busybox seq 1 1000; /bin/busybox sleep 0.2; done"
        yield* Effect.acquireRelease(
          docker(
            "run",
            "-d",
            "--network",
            "none",
            "--log-opt",
            "max-size=5m",
            "--name",
            image,
            image,
            "/bin/busybox",
            "sh",
            "-c",
            flood
          ),
          () => docker("rm", "-f", image)
        )
        yield* Effect.gen(function*() {
          const before = yield* liveHeap
          const events = yield* followLogs("server", { containerName: image, lines: "1" })
          const dropped = yield* events.pipe(
            Stream.rechunk(50),
            Stream.mapChunksEffect((chunk) => Effect.as(Effect.sleep("500 millis"), chunk)),
            Stream.filterMap((event) =>
              event.event === "dropped" ? Chunk.head(Chunk.of(event.data.lines)) : Chunk.head(Chunk.empty<number>())
            ),
            Stream.scan(0, (sum, lines) => sum + lines),
            Stream.takeUntil((sum) => sum > 100),
            Stream.runLast,
            Effect.map(Option.getOrElse(() => 0)),
            Effect.timeout("100 seconds")
          )
          expect(dropped).toBeGreaterThan(100)
          expect((yield* liveHeap) - before).toBeLessThan(20 * 1024 * 1024)
        }).pipe(Effect.scoped, Effect.provide([liveSsh(), settingsTest({}, [access])]))
      }), 150_000 * patience)
  }
)
