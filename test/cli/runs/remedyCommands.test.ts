import { it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { expect } from "vitest"
import { GivenService } from "../../../src/cli/connection/withService.ts"
import { remedyCommands } from "../../../src/cli/runs/remedyCommands.ts"
import type { Run } from "../../../src/schema/runs/Run.ts"

const time = "2026-01-02T03:04:05.678Z"
const run: Run = {
  id: "01m80yqq5mpfzvahn1sfvx7mvm",
  kind: "deploy",
  state: "failed",
  subject: { projectPath: "/projects/my shop", serverId: "17", remotePath: "~/containers/shop" },
  requestedBy: { door: "cli", name: "ann@laptop" },
  requestedAt: time,
  startedAt: time,
  endedAt: time,
  steps: [],
  result: { success: true, healthy: false },
  error: { status: 200, error: "web is unhealthy" }
}

const given = { url: Option.none<string>(), config: Option.none<string>() }

it.effect("names a command for each remedy, the same ones that the page offers", () =>
  Effect.gen(function*() {
    expect(yield* remedyCommands(run)).toEqual([
      "  Show the log: berth logs '/projects/my shop'",
      "  Roll back: berth rollback '/projects/my shop'",
      "  Deploy again: berth deploy '/projects/my shop'"
    ])
    expect(yield* remedyCommands({ ...run, result: null, error: { status: 502, error: "" } })).toContain(
      "  Look at the server: berth server test 17"
    )
    expect(yield* remedyCommands({ ...run, state: "succeeded" })).toEqual([])
  }).pipe(Effect.provideService(GivenService, given)))
