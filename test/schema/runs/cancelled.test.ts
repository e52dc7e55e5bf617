import { expect, it } from "@effect/vitest"
import { RunCancelled } from "../../../src/schema/runs.ts"

it.each(
  [
    ["backup", "copy", "What it did before stays, and the backup is whole on its server: a copy of it is missing"],
    ["deploy", "copy", "What it did before stays, and the backup is whole on its server: a copy of it is missing"],
    [
      "backup",
      "backup",
      "The server finishes it by itself, and starts again what it has stopped: the list of backups shows whether it is kept"
    ],
    ["backup", "preflight", "What ran before was not touched"],
    ["restore", "fetch", "What ran before was not touched"],
    [
      "restore",
      "restore",
      "The server finishes it by itself, and starts again what it has stopped: with the data of the backup, or with what was " +
      "there before, which the list of backups shows"
    ]
  ] as const
)("a %s that is cancelled at %s says what it leaves behind", (kind, step, left) => {
  expect(new RunCancelled({ kind, step }).message).toBe(`The ${kind} was cancelled at ${step}. ${left}`)
})
