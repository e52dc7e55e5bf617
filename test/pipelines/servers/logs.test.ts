import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { join } from "node:path"
import { containers } from "../../../src/pipelines/servers/containers.ts"
import { dockerHelp } from "../../../src/pipelines/servers/dockerHelp.ts"
import { logs } from "../../../src/pipelines/servers/logs.ts"
import { ServerUnreachable } from "../../../src/schema/Ssh.ts"
import { buildImage, docker, realDocker, uniqueName } from "../../fixtures/docker.ts"
import { realSsh, run } from "../../fixtures/openssh.ts"
import { sshdWorld } from "../../fixtures/servers.ts"
import { settingsTest, storedServer } from "../../layers/SettingsTest.ts"
import { SshAsked, SshTest } from "../../layers/SshTest.ts"
import { liveSsh } from "../../services/ssh/live.ts"

const server = storedServer({ useSudo: true })
const settings = settingsTest({}, [server])
const ofWeb = "reading the logs of web"
const ofStack = "reading the logs of ~/containers/app"

describe("logs", () => {
  it.effect("takes 100 lines of the container through sudo where the server says so", () =>
    Effect.gen(function*() {
      expect(yield* logs("1", { containerName: "web" })).toBe("one\n")
      expect(yield* yield* SshAsked).toMatchObject([{ what: ofWeb, args: ["web", "100"], sudo: true }])
    }).pipe(Effect.provide([SshTest({ [ofWeb]: { stdout: "one\n" } }), settings])))

  it.effect("shows no password that the log repeats", () =>
    Effect.gen(function*() {
      expect(yield* logs("1", { containerName: "web" })).toBe("log in with ***, ***\n")
    }).pipe(Effect.provide([
      SshTest({ [ofWeb]: { stdout: "log in with pass-word/1, pass-word%2F1\n" } }),
      settingsTest({}, [storedServer({ credentials: { password: Redacted.make("pass-word/1") } })])
    ])))

  it.effect("prefers the stack to the container", () =>
    Effect.gen(function*() {
      yield* logs("1", { containerName: "not a name", remotePath: "~/containers//app/", lines: "7" })
      expect(yield* yield* SshAsked).toMatchObject([{ what: ofStack, args: ["~/containers/app", "7"] }])
    }).pipe(Effect.provide([SshTest({ [ofStack]: {} }), settings])))

  it.effect("wants one of both; empty is absent", () =>
    Effect.gen(function*() {
      for (const query of [{}, { containerName: "", remotePath: "" }]) {
        const error = yield* Effect.flip(logs("1", query))
        expect(error).toMatchObject({
          status: 500,
          message: "Failed to get logs: containerName or remotePath required"
        })
      }
    }).pipe(Effect.provide([SshTest({}), settings])))

  it.effect.each(
    [
      [{ containerName: "-f" }, "containerName"],
      [{ containerName: "web; id" }, "containerName"],
      [{ containerName: "a\nb" }, "containerName"],
      [{ containerName: "a".repeat(300) }, "containerName"],
      [{ containerName: "web", lines: "0" }, "lines"],
      [{ containerName: "web", lines: "10001" }, "lines"],
      [{ containerName: "web", lines: "-5" }, "lines"],
      [{ containerName: "web", lines: "1.5" }, "lines"],
      [{ containerName: "web", lines: "all" }, "lines"],
      [{ containerName: "web", lines: "1e3" }, "lines"],
      [{ remotePath: "relative" }, "remotePath"],
      [{ remotePath: "/a/../b" }, "remotePath"],
      [{ remotePath: "/a\nb" }, "remotePath"]
    ] as const
  )("turns down %j and names the field", ([query, field]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(logs("1", query))
      expect(error.status).toBe(400)
      expect(error.message).toMatch(new RegExp(`^${field}: `))
      expect(error.message).not.toContain("undefined")
    }).pipe(Effect.provide([SshTest({}), settings])))

  it.effect("looks for the server first", () =>
    Effect.gen(function*() {
      expect((yield* Effect.flip(logs("2", { lines: "x" }))).status).toBe(404)
      expect((yield* Effect.flip(logs("2", {}))).status).toBe(404)
      expect((yield* Effect.flip(containers("2"))).status).toBe(404)
    }).pipe(Effect.provide([SshTest({}), settings])))

  it.effect("wraps what fails", () =>
    Effect.gen(function*() {
      const missing = yield* Effect.flip(logs("1", { containerName: "web" }))
      expect(missing).toMatchObject({
        status: 500,
        message: "Failed to get logs: Error: No such container: web"
      })
      const unreachable = yield* Effect.flip(containers("1"))
      expect(unreachable.status).toBe(500)
      expect(unreachable.message).toMatch(/^Failed to get containers: Cannot reach server "Main"/)
    }).pipe(Effect.provide([
      SshTest({
        [ofWeb]: { code: 1, stdout: "Error: No such container: web\n" },
        "listing containers": new ServerUnreachable({ server: "Main", host: "h", port: 22, reason: "refused" })
      }),
      settings
    ])))
})

describe("dockerHelp", () => {
  const help = (words: string) => dockerHelp(words, { username: "deployer" })
  it("says what to do where that is known", () => {
    expect(help("permission denied while trying to connect to the Docker daemon socket"))
      .toMatch(/Add deployer to the group docker, or set useSudo for this server$/)
    expect(help("sh: 1: docker: not found")).toMatch(/^Docker is not installed/)
    expect(help("bash: line 1: docker: command not found")).toMatch(/^Docker is not installed/)
    expect(help("cd: /srv: Permission denied")).toBe("cd: /srv: Permission denied")
    expect(help("")).toBe("Docker did not say why")
  })
})

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

/** How the users of these tests may talk to Docker. */
const ways = [
  { name: "as a member of the group docker", options: { groups: ["docker"] } },
  { name: "through sudo with a password", options: { sudo: "password" } }
] as const

describe.skipIf(!realSsh.available || !realDocker.available).each(ways)(
  "logs of a real Docker, $name",
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
          const running = (yield* containers("server")).find(({ name }) => name === image)
          expect(running).toEqual({ name: image, status: expect.stringMatching(/^Up /), ports: "" })
          const error = yield* Effect.flip(logs("server", { containerName: `${image}-none` }))
          expect(error.message).toMatch(/^Failed to get logs: .*No such container/)
        }).pipe(Effect.provide([liveSsh(), settingsTest({}, [access])]))
      }), 120_000)

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
          const error = yield* Effect.flip(logs("server", { remotePath: "~/containers/none" }))
          expect(error.message).toMatch(/^Failed to get logs: .*containers\/none/)
        }).pipe(Effect.provide([liveSsh(), settingsTest({}, [access])]))
      }), 120_000)
  }
)
