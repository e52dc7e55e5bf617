import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { spawnBerth } from "../fixtures/berthProcess.ts"
import { freePort } from "../fixtures/freePort.ts"
import { requestTo } from "../sandbox/request.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

const run = (program: string, args: ReadonlyArray<string>, cwd: string, env: Readonly<Record<string, string>> = {}) =>
  Effect.async<{ readonly code: number; readonly out: string; readonly err: string }>((resume) => {
    execFile(program, [...args], { cwd, env: { ...process.env, ...env }, maxBuffer: 1 << 26 }, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1
      resume(Effect.succeed({ code, out, err }))
    })
  })

const emptyDirectory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-package-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const offline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ENOTCACHED|EIDLETIMEOUT|ECONNRESET/

const consumer = `import { Effect } from "effect"
import { Berth, type BerthError, inProcess, overHttp } from "berth"
import { layer, type RunEvent } from "berth/client"
import { deploy } from "berth/pipelines/deploy/deploy"

const servers: Effect.Effect<ReadonlyArray<string>, BerthError, Berth> = Effect.gen(function*() {
  const berth = yield* Berth
  const all = yield* berth.use((api) => api.listServers({}))
  return all.map(({ id }) => id)
})
const heard = (event: RunEvent) => Effect.log(event.event)
const program = Effect.gen(function*() {
  const berth = yield* Berth
  const payload = { projectPath: "/p", serverId: "1", remotePath: "~/x" }
  const result = yield* berth.run((api) => api.deploy({ payload }), heard)
  const healthy: boolean = result.healthy
  // @ts-expect-error: there is no such endpoint
  berth.use((api) => api.nothing({}))
  return [healthy, yield* servers] as const
})
export const central = program.pipe(Effect.provide(overHttp({ url: "http://127.0.0.1:3100" })))
export const alone = program.pipe(Effect.provide(inProcess("/berth.yaml")))
export const others = [layer, deploy]
`

const settings = {
  compilerOptions: {
    target: "ES2022",
    module: "NodeNext",
    moduleResolution: "NodeNext",
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
    types: []
  },
  files: ["consumer.ts"]
}

it.scopedLive(
  "the package, installed in an empty directory, has a berth that works and types that fit (needs the npm registry)",
  (context) =>
    Effect.gen(function*() {
      const directory = yield* emptyDirectory
      const packed = yield* run("npm", ["pack", "--ignore-scripts", "--pack-destination", directory], root)
      expect(packed.code, packed.err).toBe(0)
      const [tarball = ""] = (yield* Effect.promise(() => readdir(directory))).filter((name) => name.endsWith(".tgz"))
      yield* Effect.promise(() =>
        writeFile(join(directory, "package.json"), "{ \"type\": \"module\", \"private\": true }")
      )
      const install = ["i", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", `./${tarball}`]
      const installed = yield* run("npm", install, directory)
      if (installed.code !== 0 && offline.test(installed.err)) {
        return context.skip("The npm registry cannot be reached")
      }
      expect(installed.code, installed.err).toBe(0)

      const berth = join(directory, "node_modules", "berth", "dist", "service", "cli.js")
      const linked = yield* run(join(directory, "node_modules", ".bin", "berth"), ["--version"], directory)
      expect(linked.out).toMatch(/^\d+\.\d+\.\d+\n$/)
      const help = yield* run(process.execPath, [berth, "--help"], directory)
      expect(help.out).toContain("Usage\n  berth <command>")

      yield* Effect.promise(() => writeFile(join(directory, "consumer.ts"), consumer))
      yield* Effect.promise(() => writeFile(join(directory, "tsconfig.json"), JSON.stringify(settings)))
      const checked = yield* run(
        process.execPath,
        [join(root, "node_modules/typescript/bin/tsc"), "-p", "."],
        directory
      )
      expect(checked.out).toBe("")
      expect(checked.code).toBe(0)

      for (const command of ["serve", "sandbox"]) {
        const port = String(yield* freePort)
        const url = `http://127.0.0.1:${port}`
        const environment = { BERTH_PORT: port, BERTH_CONFIG: join(directory, "berth.yaml") }
        const serving = yield* spawnBerth(environment, [berth, command])
        const isUp = Effect.suspend(() => (serving.output().includes(url) ? Effect.void : Effect.fail("not yet")))
        yield* Effect.retry(Effect.delay(isUp, "100 millis"), { times: 600 }).pipe(
          Effect.orDieWith(() => new Error(serving.output()))
        )
        expect(yield* requestTo(url, {})("GET", "/api/health")).toMatchObject({ status: 200 })
        const listed = yield* run(process.execPath, [berth, "server", "list"], directory, { BERTH_URL: url })
        expect(command === "sandbox" ? listed.out : listed.err).toContain(
          command === "sandbox" ? "Sandbox" : "No server"
        )
        yield* serving.kill("SIGINT")
        expect(yield* serving.ended).toMatchObject({ code: 0 })
      }
    }),
  600_000
)
