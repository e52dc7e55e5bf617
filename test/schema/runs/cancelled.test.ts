import { expect, it } from "@effect/vitest"
import { RunCancelled } from "../../../src/schema/runs.ts"

it.each(
  [
    ["backup", "copy", "What it did before stays, and the backup is whole on its server: a copy of it is missing"],
    ["deploy", "copy", "What it did before stays, and the backup is whole on its server: a copy of it is missing"],
    ["restore", "fetch", "What ran before was not touched"]
  ] as const
)("a %s that is cancelled at %s says what it leaves behind", (kind, step, left) => {
  expect(new RunCancelled({ kind, step }).message).toBe(`The ${kind} was cancelled at ${step}. ${left}`)
})
