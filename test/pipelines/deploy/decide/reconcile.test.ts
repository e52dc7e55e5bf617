import { Path } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { describeStateAfter, halfway, stateUnknown } from "../../../../src/pipelines/activation/activate.ts"
import { reconcileDeploy } from "../../../../src/pipelines/deploy/deploy.ts"
import type { Run } from "../../../../src/schema/runs.ts"
import { ConnectionLost } from "../../../../src/schema/ssh.ts"
import { InstanceLive } from "../../../../src/services/runs/Runs.ts"
import { Steps, StepsLive } from "../../../../src/services/runs/Steps.ts"
import { localFilesTest } from "../../../../src/testing/LocalFilesTest.ts"
import { locksTest } from "../../../../src/testing/RunsTest.ts"
import { settingsTest, storedServer } from "../../../../src/testing/SettingsTest.ts"
import { sftpTest, type SshAnswer, sshTest } from "../../../../src/testing/SshTest.ts"

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

/** Error and steps of a deploy that is recovered, for an answer of the server. */
const endOf = (answer: SshAnswer, run: Run = left) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(
      Effect.flip(reconcileDeploy({ server, directory: "/srv/shop", remotePath: "~/shop" }, run))
    )
    yield* TestClock.adjust("10 minutes")
    const { message } = yield* Fiber.join(fiber)
    const steps = yield* Effect.flatMap(Steps, ({ all }) => all)
    return { message, steps: steps.map(({ detail, step }) => ({ step, detail })) }
  }).pipe(Effect.provide([
    sshTest({ "asking what became of the deploy": answer }),
    sftpTest(),
    StepsLive,
    settingsTest(),
    localFilesTest({}),
    locksTest,
    InstanceLive,
    Path.layer
  ]))

const saidOf = (answer: SshAnswer) => Effect.map(endOf(answer), ({ message }) => message)

describe("a deploy whose service ended", () => {
  it.effect.each(
    [
      ["start", "yes", "running", "The previous version is running again"],
      ["start", "yes", "nothing", "Nothing was running before and nothing is now"],
      ["start", "no", "running", "The files of the previous version are back, but it did not start again"],
      ["load", "yes", "unknown", "What ran before was not touched"]
    ] as const
  )(
    "says of what was undone (%s, %s, %s) what any other says",
    ([step, restored, before, words]) =>
      Effect.gen(function*() {
        const said = yield* saidOf({ stdout: `run\tr1\tfailed\t${step}\t${restored}\t${before}\n` })
        const state = describeStateAfter({ step, isRestored: restored === "yes", ranBefore: before })
        expect(said).toBe(`Deploy failed at ${step}: the service ended before it heard why. ${state}`)
        expect(said).toContain(words)
      })
  )

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
      expect(yield* saidOf(lost)).toContain(stateUnknown)
    }))

  it.effect.each(
    [
      ["upload", "nothing was changed", "what ran before runs on"],
      ["start", "somebody else has deployed there since", "Somebody else has deployed there since"]
    ] as const
  )(
    "is interrupted when the last activation there is not its own, and its step says the same (%s)",
    ([at, detail, state]) =>
      Effect.gen(function*() {
        const step = { step: at, status: "running", detail: "", startedAt: left.requestedAt, endedAt: null } as const
        const other = { stdout: "run\tother\tfailed\tstart\tyes\n" }
        const { message, steps } = yield* endOf(other, { ...left, steps: [step] })
        expect(message).toMatch(new RegExp(`^The service ended while the deploy was at "?${at}"?\\.`))
        expect(message).toContain(state)
        expect(steps).toEqual([{ step: "reconcile", detail }])
      })
  )
})
