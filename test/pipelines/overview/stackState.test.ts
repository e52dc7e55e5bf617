import { describe, expect, it } from "vitest"
import { stackState } from "../../../src/pipelines/overview/stackState.ts"

describe("stackState", () => {
  it.each([
    [[], "absent", 0, 0],
    [["Up 3 hours (healthy)", "Up 1 second"], "running", 2, 2],
    [["Up 3 hours (health: starting)"], "running", 1, 1],
    [["Up 3 hours", "Exited (0) 2 days ago"], "running", 1, 1],
    [["Up 3 hours", "Exited (1) 2 days ago"], "degraded", 1, 2],
    [["Up 3 hours (unhealthy)"], "degraded", 1, 1],
    [["Up 2 minutes (Paused)"], "degraded", 1, 1],
    [["Restarting (1) 3 seconds ago"], "degraded", 0, 1],
    [["Up 3 hours", "Created"], "degraded", 1, 2],
    [["Exited (0) 2 days ago", "Exited (137) 2 days ago"], "stopped", 0, 2],
    [["Created"], "stopped", 0, 1]
  ])("of %j is %s", (statuses, state, up, total) => {
    expect(stackState(statuses)).toEqual({ state, containers: { up, total } })
  })
})
