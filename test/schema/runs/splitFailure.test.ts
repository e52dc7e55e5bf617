import { expect, it } from "vitest"
import { describeStateAfter, describeStateWithin } from "../../../src/pipelines/activation/activate.ts"
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
    output: ""
  })
})

it("keeps other words as the cause, and further lines apart", () => {
  expect(splitFailure("The stack is unhealthy. Sent 3 kB.\nweb-1 (exited):\n  no\n")).toEqual({
    cause: "The stack is unhealthy. Sent 3 kB.",
    state: "",
    output: "web-1 (exited):\n  no"
  })
})
