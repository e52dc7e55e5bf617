import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { spawnBerth, startBerth } from "../fixtures/berthProcess.ts"
import { compiled } from "../fixtures/compiled.ts"
import { freePort } from "../fixtures/network/freePort.ts"
import { settingsFileWith } from "../fixtures/programs/service.ts"
import { slow } from "../fixtures/thorough.ts"
import { temporaryDirectory } from "../layers/temporary.ts"
import { eventually } from "../sandbox/eventually.ts"

describe.skipIf(process.platform === "win32")("berth serve", () => {
  it.scopedLive("says once where it listens", () =>
    Effect.gen(function*() {
      const berth = yield* startBerth(yield* settingsFileWith(""), [compiled("src/cli/berth.ts"), "serve"])
      yield* berth.kill("SIGTERM")
      yield* berth.ended
      expect(berth.output().match(/listens on/g)).toHaveLength(1)
    }))

  it.scopedLive.runIf(slow)(
    "serves once where two start at the same moment in an empty home directory",
    () =>
      Effect.gen(function*() {
        const home = join(yield* temporaryDirectory, "home")
        const port = yield* freePort
        const environment = { HOME: home, BERTH_CONFIG: "", BERTH_URL: "", BERTH_PORT: String(port) }
        const start = spawnBerth(environment, [compiled("src/cli/berth.ts"), "serve"])
        const both = yield* Effect.all([start, start], { concurrency: 2 })
        const first = yield* Effect.raceAll(both.map((each) => Effect.as(each.ended, each)))
        expect(yield* first.ended).toEqual({ code: 1, signal: null })
        const lines = first.output().trim().split("\n")
        expect(lines).toEqual([
          expect.stringMatching(
            `^Error: Cannot listen on 127.0.0.1:${port}: the port is in use\\. Set BERTH_PORT to another one, or stop what ` +
              `uses it\\. A service with these settings runs already: http://127.0.0.1:${port}$`
          )
        ])
        const settings = join(home, ".config", "berth")
        yield* eventually(Effect.sync(() => existsSync(join(settings, "berth.service"))))
        const listing = yield* spawnBerth(environment, [compiled("src/cli/berth.ts"), "runs"])
        expect(yield* listing.ended).toMatchObject({ code: 0 })
        expect(listing.output()).not.toContain("another berth")
        const other = yield* spawnBerth({ ...environment, BERTH_PORT: String(yield* freePort) }, [
          compiled("src/cli/berth.ts"),
          "serve"
        ])
        yield* eventually(
          Effect.sync(() =>
            other.output().includes(`Another service with these settings runs at http://127.0.0.1:${port} (process`)
          )
        )
        yield* Effect.forEach([other, ...both], ({ kill }) => kill("SIGTERM"))
        expect(yield* other.ended).toMatchObject({ code: 0 })
        yield* Effect.forEach(both, ({ ended }) => ended)
        expect(readdirSync(settings).filter((name) => !/^berth\.(?:db|known_hosts|trust)/.test(name))).toEqual([])
      })
  )
})
