import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { openExec } from "../../../src/pipelines/exec.ts"
import { Execs } from "../../../src/services/exec.ts"
import { type RunRecord, RunRecords } from "../../../src/services/runs/store.ts"
import { settingsTest, storedServer } from "../../../src/testing/SettingsTest.ts"
import { sshTest } from "../../../src/testing/SshTest.ts"

const stack = `${"a".repeat(64)}|app-web-1|web|1|running|False\n`

/** Runs a command; returns what the history and the server were told. */
const execute = (command: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const recorded: Array<RunRecord> = []
    const started: Array<string> = []
    const outside = Layer.mergeAll(
      Layer.succeed(RunRecords, { add: (record) => Effect.sync(() => void recorded.push(record)) }),
      Layer.mock(Execs, {
        open: (_, __, commands) =>
          Effect.sync(() => {
            started.push(commands("mark").start.what)
            return { id: "mark", events: Stream.empty }
          })
      }),
      sshTest({ "looking for the containers of ~/containers/app": { stdout: stack } })
    ).pipe(Layer.provideMerge(settingsTest({}, [storedServer({ id: "1", name: "Main" })])))
    const outcome = yield* openExec(
      "1",
      { remotePath: "~/containers/app", command },
      { door: "cli", name: "ann" }
    ).pipe(Effect.scoped, Effect.either, Effect.provide(outside))
    return { outcome, recorded, started }
  })

describe("a command in a container", () => {
  it.effect("is told in the history before it starts", () =>
    Effect.gen(function*() {
      const { recorded, started } = yield* execute(["ls", "-l"])
      expect(recorded).toMatchObject([{ kind: "exec", subject: { container: "app-web-1", command: ["ls", "-l"] } }])
      expect(started).toEqual(["running a command in app-web-1"])
    }))

  it.effect("is not told where it cannot be sent", () =>
    Effect.gen(function*() {
      for (const command of [["x".repeat(5_000)], ["nul\0"], Array.from({ length: 60 }, () => "x".repeat(2_000))]) {
        const { outcome, recorded, started } = yield* execute(command)
        expect(outcome).toMatchObject({ _tag: "Left", left: { _tag: "RemoteArgumentRefused" } })
        expect([recorded, started]).toEqual([[], []])
      }
    }))
})
