import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { spawnBerth } from "../fixtures/berthProcess.ts"
import { freePort } from "../fixtures/network/freePort.ts"
import { emptyDirectory, ended, npmInstall, packInto, root, warningsOfInstall } from "../fixtures/packed.ts"
import { patience } from "../fixtures/patience.ts"
import { requestTo } from "../sandbox/request.ts"

/** Disk usage of a directory in MiB. */
const sizeOf = (directory: string) =>
  Effect.map(ended("du", ["-sk", directory], directory), ({ out }) => Number.parseInt(out, 10) / 1024)

/** The size in MB and the seconds that the documentation states. */
const stated = () => {
  const text = readFileSync(join(root, "docs/commands.md"), "utf8").replaceAll("\n", " ")
  const [, size, seconds] = /takes (\d+) MB and about (\d+) seconds/.exec(text) ?? []
  return { size: Number(size), seconds: Number(seconds) }
}

it.scopedLive.skipIf(process.platform === "win32")(
  "berth, installed globally, is as small as the documentation says, and serves (needs the npm registry)",
  (context) =>
    Effect.gen(function*() {
      const directory = yield* emptyDirectory
      const tarball = yield* packInto(directory)
      const prefix = join(directory, "prefix")
      const start = Date.now()
      // As somebody without a compiler has it.
      const installs = yield* npmInstall(directory, "--global", "--prefix", prefix, "--ignore-scripts", tarball)
      if (!installs) return context.skip("The npm registry cannot be reached")
      const seconds = (Date.now() - start) / 1000

      expect(yield* sizeOf(prefix)).toBeLessThan(stated().size * 1.2)
      // Other tests, and the network, take their time too.
      expect(seconds).toBeLessThan(stated().seconds * 6)
      const packages = join(prefix, "lib/node_modules/berth/node_modules")
      expect(existsSync(join(packages, "libsql"))).toBe(true)
      for (const name of ["effect", "@effect", "yaml", "pg"]) expect(existsSync(join(packages, name)), name).toBe(false)

      const linked = yield* ended(join(prefix, "bin/berth"), ["--version"], directory)
      expect(linked.out).toMatch(/^\d+\.\d+\.\d+\n$/)
      const berth = join(prefix, "lib/node_modules/berth/dist/service/cli.js")
      const help = yield* ended(process.execPath, [berth, "--help"], directory)
      expect(help.out).toContain("Usage\n  berth <command>")

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
        const listed = yield* ended(process.execPath, [berth, "server", "list"], directory, { BERTH_URL: url })
        expect(command === "sandbox" ? listed.out : listed.err).toContain(
          command === "sandbox" ? "Sandbox" : "No server"
        )
        yield* serving.kill("SIGINT")
        expect(yield* serving.ended).toMatchObject({ code: 0 })
      }
    }),
  600_000
)

it.scopedLive.skipIf(process.platform === "win32")(
  "an install prints nothing that the README and the page of commands do not explain (needs the npm registry)",
  (context) =>
    Effect.gen(function*() {
      const directory = yield* emptyDirectory
      const tarball = yield* packInto(directory)
      const warnings = yield* warningsOfInstall(directory, "--global", "--prefix", join(directory, "prefix"), tarball)
      if (warnings === undefined) return context.skip("The npm registry cannot be reached")
      const pages = ["README.md", "docs/commands.md"].map((page) => readFileSync(join(root, page), "utf8"))
      for (const line of warnings.split("\n").filter((line) => line.startsWith("npm "))) {
        expect(line).toMatch(/^npm warn install-scripts/)
        const [, name] = /^npm warn install-scripts {3}(\S+)@\d/.exec(line) ?? []
        for (const page of pages) expect(page).toContain(name === undefined ? "allowScripts" : `\`${name}\``)
      }
    }),
  120_000 * patience
)
