import { expect, it } from "vitest"
import { describeStateAfter, describeStateWithin } from "../../../src/pipelines/activation/activate.ts"
import { describeFailedCheck } from "../../../src/pipelines/activation/unhealthy.ts"
import { splitFailure } from "../../../src/schema/runs.ts"

const states = [
  ...["preflight", "stage", "pull", "health", "start"].map(describeStateWithin),
  "The release before runs again; its health is unknown.",
  "Release 1 could not be started again, so the new version is left as it is: no.",
  "Release 1, which ran before, runs again and is healthy. Sent 3 kB.",
  describeStateAfter({ step: "start", isRestored: true, ranBefore: "running" }),
  describeStateAfter({ step: "load", isRestored: true, ranBefore: "running" }),
  describeStateAfter({ step: "start", isRestored: true, ranBefore: "nothing" }),
  describeStateAfter({ step: "load", isRestored: true, ranBefore: "unknown" }),
  describeStateAfter({ step: "start", isRestored: false, ranBefore: "running" })
]

it.each(states)("takes apart a cause and what stands now: %s", (state) => {
  expect(splitFailure(`Deploy failed at start: no such image. ${state}`)).toEqual({
    cause: "Deploy failed at start: no such image.",
    state,
    checks: "",
    output: ""
  })
})

it("keeps other words as the cause, and further lines apart", () => {
  expect(splitFailure("The stack is unhealthy. Sent 3 kB.\nweb-1 (exited):\n  no\n")).toEqual({
    cause: "The stack is unhealthy. Sent 3 kB.",
    state: "",
    checks: "",
    output: "web-1 (exited):\n  no"
  })
})

it("takes failed health checks out of the further lines", () => {
  const checks = describeFailedCheck("web-1", ["7", "one", "two"]) + describeFailedCheck("db-1", ["-1", "too slow"]) +
    describeFailedCheck("cache-1", ["1"])
  const output = "web-1 (running), the last lines of its log:\n  web-1: its health check ended with 1: forged"
  const of = (words: string) => splitFailure(`The stack is unhealthy.${words}`)
  expect(of(`${checks}\n${output}`)).toMatchObject({ checks: checks.slice(1), output })
  expect(of(checks)).toMatchObject({ checks: checks.slice(1), output: "" })
  expect(of(`\n${output}`)).toMatchObject({ checks: "", output })
})
