import { Effect, type Scope } from "effect"
import { createServer } from "node:http"
import { listenOnLoopback } from "../../src/sandbox/httpDouble.ts"
import { median, millis } from "../numbers.ts"
import type { Section } from "../report.ts"
import { startService } from "../service.ts"

const delayMillis = 20
const counts = [1, 30, 300, 1_000]
// A service that has just been started is slower, which says nothing about one that runs.
const warmUp = 10

/** A platform that knows this many applications, and takes its time for every answer; it answers its address. */
const slowPlatform = (count: number) => {
  const applications = Array.from({ length: count }, (_, index) => ({
    uuid: `app-${index}`,
    name: `app-${index}`,
    build_pack: "composestack",
    git_repository: `git@git.example:2004/me/app-${index}.git`,
    git_branch: "master",
    fqdn: `https://app-${index}.example`,
    base_directory: "/",
    is_static: false
  }))
  const list = JSON.stringify(applications)
  const envs = JSON.stringify([{ id: 1, key: "HOST_PORT", value: "2007", is_preview: false }])
  const server = createServer((request, response) => {
    const body = request.url === "/applications" ? list : envs
    setTimeout(() => response.setHeader("content-type", "application/json").end(body), delayMillis)
  })
  return Effect.map(listenOnLoopback("platform", server), (port) => `http://127.0.0.1:${port}`)
}

const listing = (directory: string, count: number, rounds: number): Effect.Effect<number, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const url = yield* slowPlatform(count)
    const service = yield* startService(directory, { platform: { url, token: "bench" } })
    const list = async () => {
      const began = performance.now()
      const apps = await service.get("/api/platform/apps")
      if (!Array.isArray(apps) || apps.length !== count) throw new Error("not every application was listed")
      return performance.now() - began
    }
    return yield* Effect.promise(async () => {
      for (let round = 0; round < warmUp; round++) await list()
      const took: Array<number> = []
      for (let round = 0; round < rounds; round++) took.push(await list())
      return median(took)
    })
  })

/** Applications listed with their ports, behind a platform that takes 20 ms; the time of 300 is compared with a goal. */
export const applications = (directory: string, rounds: number) =>
  Effect.gen(function*() {
    const took = new Map<number, number>()
    for (const count of counts) took.set(count, yield* Effect.scoped(listing(directory, count, rounds)))
    const section: Section = {
      title: `Applications listed with their variables, from a platform that takes ${delayMillis} ms for an answer`,
      columns: ["applications", "time", "answers' time"],
      rows: [...took].map(([count, time]) => [String(count), millis(time), (time / delayMillis).toFixed(1)])
    }
    return { section, of300: took.get(300) ?? Number.NaN }
  })
