import { Path } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { halfway, stateAfter, unknown } from "../../../src/pipelines/deploy/failureState.ts"
import { reconcileDeploy } from "../../../src/pipelines/deploy/reconcileDeploy.ts"
import type { Run } from "../../../src/schema/Run.ts"
import { ConnectionLost } from "../../../src/schema/Ssh.ts"
import { InstanceLive } from "../../../src/services/runs/Instance.ts"
import { StepsLive } from "../../../src/services/runs/Steps.ts"
import { localFilesTest } from "../../layers/LocalFilesTest.ts"
import { locksTest } from "../../layers/LocksTest.ts"
import { settingsTest, storedServer } from "../../layers/SettingsTest.ts"
import { type SshAnswer, SshTest } from "../../layers/SshTest.ts"

const left: Run = {
  id: "r1",
  kind: "deploy",
  subject: {},
  state: "running",
  requestedBy: { door: "http", name: "" },
  requestedAt: "2026-01-01T00:00:00.000Z",
  startedAt: "2026-01-01T00:00:00.000Z",
  endedAt: null,
  steps: [],
  result: null,
  error: null
}

const server = storedServer()

/** What is said of a deploy when the server answers so. */
const saidOf = (answer: SshAnswer) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(Effect.flip(reconcileDeploy(server, "/srv/shop", "~/shop", left)))
    yield* TestClock.adjust("10 minutes")
    return (yield* Fiber.join(fiber)).message
  }).pipe(Effect.provide([
    SshTest({ "asking what became of the deploy": answer }),
    StepsLive,
    settingsTest(),
    localFilesTest({}),
    locksTest,
    InstanceLive,
    Path.layer
  ]))

describe("a deploy whose service ended", () => {
  it.effect.each([
    ["yes", "running", "The previous version is running again"],
    ["yes", "nothing", "Nothing was running before and nothing is now"],
    ["no", "running", "The files of the previous version are back, but it did not start again"]
  ])("says of what was undone (%s, %s) what any other says", ([restored, before, words]) =>
    Effect.gen(function*() {
      const said = yield* saidOf({ stdout: `run\tr1\tfailed\tstart\t${restored}\t${before}\n` })
      const state = stateAfter({ step: "start", isRestored: restored === "yes", wasRunning: before === "running" })
      expect(said).toBe(`Deploy failed at start: the service ended before it heard why. ${state}`)
      expect(said).toContain(words)
    }))

  it.effect("says the same of one that was noted by an earlier version", () =>
    Effect.gen(function*() {
      expect(yield* saidOf({ stdout: "run\tr1\tfailed\tstart\tyes\n" })).toContain("is running again")
    }))

  it.effect("says how to put back what a server left halfway", () =>
    Effect.gen(function*() {
      expect(yield* saidOf({ stdout: "run\tr1\tbegun\n" })).toBe(
        `Deploy failed at start: the server stopped halfway. ${halfway}`
      )
    }))

  it.effect("says that nobody knows where the server cannot be asked", () =>
    Effect.gen(function*() {
      const lost = new ConnectionLost({ server: "Main", host: "main.lan", port: 22, reason: "it stopped answering" })
      expect(yield* saidOf(lost)).toMatch(/^Deploy failed at reconcile: /)
      expect(yield* saidOf(lost)).toContain(unknown)
    }))

  it.effect("is interrupted when the server has not heard of it", () =>
    Effect.gen(function*() {
      expect(yield* saidOf({ stdout: "run\tother\tfailed\tstart\tyes\n" })).toMatch(
        /^The service ended while the deploy was at its beginning\./
      )
    }))
})
