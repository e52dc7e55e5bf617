import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { execFileSync } from "node:child_process"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { makeConfinedWorld } from "../../src/sandbox/world.ts"
import { startBerth } from "../fixtures/berthProcess.ts"
import { patience } from "../fixtures/patience.ts"
import { requestTo } from "../sandbox/request.ts"

const packed = fileURLToPath(new URL("../../dist/service/berth.js", import.meta.url))
const must = <A>(make: () => Promise<A>) => Effect.promise(make)

/** Milliseconds that health may take beside a request. */
const mayTake = 200 * patience

const nested = "[".repeat(2_000)
const compose = "services:\n  web:\n    image: web\n"
const manyKeys = `services:\n${Array.from({ length: 40_000 }, (_, at) => `  s${at}: {}\n`).join("")}`
const sections = Array.from({ length: 20_000 }, (_, at) => `    r${at}: { rule: x }\n`).join("")

/** A project's files that once ended the process or kept it from answering, and what each is refused or read with. */
const projects: ReadonlyArray<readonly [name: string, files: Readonly<Record<string, string>>]> = [
  ["nested container.json", { "compose.yml": compose, "container.json": nested }],
  ["nested compose file", { "compose.yml": `services: ${nested}` }],
  ["nested platform.json", { "platform.json": nested }],
  ["a compose file of many keys", { "compose.yml": manyKeys }],
  ["a variable of spaces", { "compose.yml": compose, ".env": `A=${" ".repeat(200_000)}x\n` }],
  ["nested alternatives", { "compose.yml": `services:\n  web:\n    image: ${"${A:-".repeat(5_000)}\n` }],
  ["variables that grow", {
    "compose.yml": "services:\n  web:\n    image: $V30\n",
    ".env": Array.from({ length: 31 }, (_, at) => `V${at}=${at === 0 ? "x" : `$V${at - 1}$V${at - 1}`}\n`).join("")
  }]
]

describe.skipIf(process.platform === "win32")("hostile files", () => {
  it.scopedLive("neither end the service nor keep it from answering", () =>
    Effect.gen(function*() {
      const world = yield* makeConfinedWorld
      const berth = yield* startBerth(world.settingsFile, [packed])
      const request = requestTo(berth.url, { "content-type": "application/json" })
      yield* request("GET", "/api/health")

      /** Sends a request, and asks for health until it has its answer; the slowest health but one in twenty. */
      const once = (what: string, method: string, path: string, body?: unknown) =>
        Effect.gen(function*() {
          const asked = yield* Effect.fork(request(method, path, body))
          const latencies: Array<number> = []
          do {
            const before = yield* Clock.currentTimeMillis
            expect((yield* request("GET", "/api/health")).status, what).toBe(200)
            latencies.push((yield* Clock.currentTimeMillis) - before)
            yield* Effect.sleep("20 millis")
          } while ((yield* Fiber.poll(asked))._tag === "None")
          const usual = latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * 0.95)] ?? 0
          return { usual, reply: yield* Fiber.join(asked) }
        }).pipe(Effect.timeout("30 seconds"), Effect.orDie)

      // A busy machine is slow now and then, what takes the processor is slow each time.
      const meanwhile = (what: string, method: string, path: string, body?: unknown) =>
        Effect.repeat(once(what, method, path, body), { until: ({ usual }) => usual < mayTake, times: 2 })

      const slow: Array<string> = []
      const note = (what: string, usual: number) => usual < mayTake ? undefined : slow.push(`${what}: ${usual} ms`)
      for (const [name, files] of projects) {
        const directory = join(world.projects, name)
        yield* must(() => mkdir(directory))
        for (const [file, text] of Object.entries(files)) yield* must(() => writeFile(join(directory, file), text))
        const where = { projectPath: directory, serverId: world.serverId, remotePath: "~/containers/hostile" }
        for (
          const [path, body] of [
            ["/api/container/deploy", where],
            ["/api/projects/compare", where],
            ["/api/platform/drift", { projectPath: directory }]
          ] as const
        ) {
          const { reply, usual } = yield* meanwhile(`${name}, ${path}`, "POST", path, body)
          expect(reply.status, `${name}, ${path}`).toBeLessThan(503)
          note(`${name}, ${path}`, usual)
        }
      }
      for (
        const [name, text] of [
          ["a nested proxy file", `http:\n  routers: ${nested}\n`],
          ["a proxy file of 20,000 sections", `http:\n  routers:\n${sections}  services: {}\n`]
        ] as const
      ) {
        yield* must(() => writeFile(world.proxyFile, text))
        const removed = yield* meanwhile(name, "DELETE", "/api/platform/routes", { routeName: "r19999" })
        expect(removed.reply.status, name).toBeLessThan(503)
        note(name, removed.usual)
      }
      // Four pipes in the place of files once took every thread that reads files.
      const directory = join(world.projects, "pipes")
      yield* must(() => mkdir(directory))
      const pipes = ["one", "two", "three", "four", "five"]
      for (const pipe of pipes) execFileSync("mkfifo", [join(directory, pipe)])
      yield* must(() => writeFile(join(directory, "compose.yml"), compose))
      yield* must(() => writeFile(join(directory, "container.json"), JSON.stringify({ files: pipes })))
      const deploy = {
        projectPath: directory,
        serverId: world.serverId,
        remotePath: "~/containers/pipes"
      }
      const { reply, usual } = yield* meanwhile("pipes", "POST", "/api/container/deploy", deploy)
      expect(reply).toMatchObject({ status: 422, body: { error: expect.stringContaining("is not a regular file") } })
      note("pipes", usual)

      yield* must(() => writeFile(world.settingsFile, `servers: ${nested}\n`))
      const broken = yield* meanwhile("nested settings", "GET", "/api/servers")
      expect(broken.reply.status).toBe(500)
      note("nested settings", broken.usual)

      expect(slow).toEqual([])
      expect((yield* request("GET", "/api/health")).status).toBe(200)
      yield* berth.kill("SIGTERM")
      expect((yield* berth.ended).signal).toBeNull()
    }), 180_000 * patience)
})
