import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { startBerth } from "../fixtures/berthProcess.ts"
import { compiled } from "../fixtures/compiled.ts"
import { settingsFileWith } from "../fixtures/programs/service.ts"

describe.skipIf(process.platform === "win32")("berth serve", () => {
  it.scopedLive("says once where it listens", () =>
    Effect.gen(function*() {
      const berth = yield* startBerth(yield* settingsFileWith(""), [compiled("src/cli/berth.ts"), "serve"])
      yield* berth.kill("SIGTERM")
      yield* berth.ended
      expect(berth.output().match(/listens on/g)).toHaveLength(1)
    }))
})
