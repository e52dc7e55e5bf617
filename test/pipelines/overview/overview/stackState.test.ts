import { describe, expect, it } from "vitest"
import { computeProjectState, computeStackState, sortWorstFirst } from "../../../../src/pipelines/overview/overview.ts"
import type { ObservedStack } from "../../../../src/schema/overview.ts"

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
    expect(computeStackState({ statuses, release: null })).toEqual({ state, containers: { up, total } })
  })

  it("of a release without containers is stopped: it can be started", () => {
    expect(computeStackState({ statuses: [], release: "1" })).toEqual({
      state: "stopped",
      containers: { up: 0, total: 0 }
    })
  })
})

describe("projectState", () => {
  const stack = (state: ObservedStack["state"], error?: string): ObservedStack => ({
    serverId: "1",
    serverName: "Main",
    remotePath: "~/containers/api",
    state,
    containers: null,
    containerNames: [],
    release: null,
    observedAt: "2026-01-02T03:04:05.678Z",
    ...error === undefined ? {} : { error }
  })

  it.each(
    [
      ["running", [stack("running"), stack("degraded")], [], null],
      ["degraded", [stack("degraded")], [], null],
      ["stopped", [stack("stopped")], [], null],
      ["not deployed", [stack("absent"), stack("running")], [], null],
      ["not deployed", [], [], null],
      ["unknown", [], ["container.json:1: is not valid JSON"], "container.json:1: is not valid JSON"],
      ["unknown", [], ["Main: no answer", "Attic: no answer"], "Main: no answer; Attic: no answer"],
      ["unknown", [stack(null, "no answer within 2 s")], [], "no answer within 2 s"],
      // The stack was seen: what another server would say does not matter.
      ["running", [stack("running")], ["Attic: no answer"], null],
      ["not deployed", [stack("absent")], ["Attic: no answer"], null]
    ] as const
  )("is %s", (state, stacks, doubts, stateReason) => {
    expect(computeProjectState(stacks, doubts)).toEqual({ state, stateReason })
  })

  it.each(
    [
      ["running", ["running", "running"], null],
      ["degraded", ["running", "degraded", "absent"], "on web-2"],
      ["not deployed", ["running", "absent", "absent"], "on web-2 and web-3"],
      ["unknown", ["stopped", null], "web-2: it was not observed"]
    ] as const
  )("of several targets is the worst one, %s", (state, states, stateReason) => {
    const stacks = states.map((each, index) => ({
      ...stack(each, ...each === null ? ["it was not observed"] : []),
      serverName: `web-${index + 1}`
    }))
    expect(computeProjectState(sortWorstFirst(stacks), [], states.length)).toEqual({ state, stateReason })
  })
})
