import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeWorld } from "../../src/sandbox/world.ts"
import { startBerth } from "../fixtures/berthProcess.ts"
import { fakeSsh } from "../fixtures/network/fakeSsh.ts"
import { patience } from "../fixtures/patience.ts"
import { requestTo } from "../sandbox/request.ts"

const mebibyte = 1024 * 1024

/** The most memory that a process has had so far, in MiB. */
const peakOf = (pid: number) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) / 1024

/** 64 MiB of what each of the readers takes for its answer, in records that are as many as can be. */
const answers: ReadonlyArray<readonly [begins: string, record: (at: number) => string]> = [
  ["berth-files\0", (at) => `s 1 ./${at.toString(36)}\0`],
  ["berth-scan\0", (at) => `${at.toString(36)}\0compose.yml\0\0\0\0\0`],
  ["now\t1\n", () => "container\tUp\t/a|b\n"],
  ["", () => "\n"]
]

const floods = answers.map(([begins, record]) => {
  const parts = [begins]
  for (let bytes = 0, at = 0; bytes < 64 * mebibyte; at++) {
    // Long enough to be made at once.
    const block = Array.from({ length: 1_000 }, (_, index) => record(at * 1_000 + index)).join("")
    parts.push(block)
    bytes += block.length
  }
  return Buffer.from(parts.join(""))
})

describe.skipIf(process.platform !== "linux")("a hostile server", () => {
  it.scopedLive(
    "that answers with 64 MiB whatever it is asked neither ends the service nor takes its memory",
    () =>
      Effect.gen(function*() {
        let flood = floods[0]
        const { access } = yield* fakeSsh({
          exec: (channel) => {
            channel.resume()
            channel.end(flood)
          }
        })
        const world = yield* makeWorld
        const settings = readFileSync(world.settingsFile, "utf8")
        writeFileSync(world.settingsFile, settings.replaceAll(String(world.server.port), String(access.port)))
        const berth = yield* startBerth(world.settingsFile)
        const request = requestTo(berth.url, { "content-type": "application/json" })
        expect((yield* request("GET", "/api/health")).status).toBe(200)
        const before = peakOf(berth.pid)

        const stack = { serverId: world.serverId, remotePath: "~/containers/hello" }
        const project = { ...stack, projectPath: join(world.projects, "hello") }
        const query = `remotePath=${encodeURIComponent(stack.remotePath)}`
        const server = `/api/servers/${world.serverId}`
        const requests: ReadonlyArray<readonly [method: string, path: string, body?: unknown]> = [
          ["POST", "/api/projects/compare", project],
          ["GET", `${server}/scan`],
          ["GET", `${server}/containers`],
          ["GET", `${server}/stats`],
          ["GET", `${server}/releases?${query}`],
          ["GET", `${server}/releases/compare?${query}&from=1`],
          ["POST", "/api/container/plan", project],
          ["POST", "/api/container/deploy", project],
          ["POST", "/api/container/deploy/targets/plan", { projectPath: project.projectPath }],
          ["POST", "/api/container/deploy/targets", { projectPath: project.projectPath }],
          ["POST", "/api/container/restart", stack],
          ["GET", "/api/overview"],
          ["GET", "/api/platform/next-port?evidence=true"]
        ]
        for (const next of floods) {
          flood = next
          for (const [method, path, body] of requests) {
            const asked = yield* Effect.fork(request(method, path, body))
            const reply = yield* Fiber.join(asked).pipe(Effect.timeout("60 seconds"), Effect.orDie)
            const words = JSON.stringify(reply.body)
            expect([method, path, reply.status, words.length < 200_000]).toEqual([method, path, reply.status, true])
            expect([path, words]).toEqual([path, expect.stringMatching(/wrote more than (?:\d+ MiB|[\d,]+ \w+) while/)])
          }
        }
        expect((yield* request("GET", "/api/health")).status).toBe(200)
        expect(peakOf(berth.pid) - before).toBeLessThan(300)
      }),
    120_000 * patience
  )
})
