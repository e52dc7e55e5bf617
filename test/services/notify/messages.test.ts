import { Effect } from "effect"
import { expect, it } from "vitest"
import type { NotifyEvent, NotifyTarget } from "../../../src/schema/notify.ts"
import type { Run } from "../../../src/schema/runs.ts"
import { buildRunNotices, findEvents } from "../../../src/services/notify/messages.ts"
import { storedRun } from "../../fixtures/runs/storedRuns.ts"

const unhealthy = { success: true, healthy: false, status: "unhealthy", uploadedFiles: [], message: "is unhealthy" }
const steps: Run["steps"] = [
  { step: "rollback", status: "done", detail: "release 3 runs again", startedAt: "", endedAt: "" }
]
const rolledBack: Partial<Run> = { state: "failed", result: { ...unhealthy, success: false }, steps }
const ends: ReadonlyArray<readonly [string, Partial<Run>, ReadonlyArray<NotifyEvent>]> = [
  ["a success", { state: "succeeded" }, ["succeeded"]],
  ["a rollback", { kind: "rollback", state: "succeeded" }, ["rolledBack", "succeeded"]],
  ["an error", { state: "failed", error: { status: 502, error: "e" } }, ["failed"]],
  ["a failed build", { kind: "build", state: "failed", result: { success: false } }, ["failed"]],
  ["a failed backup", { kind: "backup", state: "failed", error: { status: 502, error: "e" } }, [
    "backupFailed",
    "failed"
  ]],
  [
    "a deploy that could not keep the data first",
    {
      state: "failed",
      error: { status: 502, error: "e" },
      steps: steps.map((step) => ({ ...step, step: "backup", status: "error" }))
    },
    ["backupFailed", "failed"]
  ],
  ["an unhealthy version that stays", { state: "failed", result: unhealthy }, ["unhealthy", "failed"]],
  [
    "one that made way for the release before",
    rolledBack,
    ["rolledBack", "unhealthy", "failed"]
  ],
  [
    "one that stays since the release before could not be started",
    { state: "failed", result: unhealthy, steps: steps.map((step) => ({ ...step, status: "error" })) },
    ["unhealthy", "failed"]
  ],
  [
    "a deploy that its bridge refused: what ran before was not stopped",
    { state: "failed", result: { ...unhealthy, success: false } },
    ["failed"]
  ],
  ["a refused rollback", { kind: "rollback", state: "failed", result: { ...unhealthy, success: false } }, ["failed"]],
  ["a rollback to an unhealthy release", { kind: "rollback", state: "failed", result: unhealthy }, [
    "unhealthy",
    "failed"
  ]],
  [
    "an unhealthy restart",
    {
      kind: "stack",
      subject: { action: "restart" },
      state: "failed",
      result: { success: true, status: "unhealthy", message: "" }
    },
    ["unhealthy", "failed"]
  ],
  [
    "a restart that was refused",
    { kind: "stack", subject: { action: "restart" }, state: "failed", error: { status: 502, error: "e" } },
    ["failed"]
  ],
  ["a deploy to several servers, each of which was announced", {
    kind: "deploy-all",
    state: "failed",
    result: { success: false, targets: [{ outcome: "failed", runId: "1" }, { outcome: "notTried", runId: null }] }
  }, []],
  ["a deploy to several servers, one of which was refused without a run", {
    kind: "deploy-all",
    state: "failed",
    result: { success: false, targets: [{ outcome: "failed", runId: null }] }
  }, ["failed"]],
  ["a deploy to several servers that began none", { kind: "deploy-all", state: "failed" }, ["failed"]],
  ["an interruption", { state: "interrupted" }, ["failed"]],
  ["a cancellation", { state: "cancelled" }, []],
  ["a run that goes on", { state: "running" }, []]
]

it.each(ends)("%s", (_, run, events) => {
  expect(findEvents(storedRun(1, run))).toEqual(events)
})

it("each target gets one notification, of the most specific event that it is told of", () => {
  const target = (name: string, ...events: ReadonlyArray<NotifyEvent>): NotifyTarget => ({
    name,
    events,
    format: "json",
    access: Effect.never
  })
  const run = storedRun(1, rolledBack)
  const notices = buildRunNotices(run, [
    target("all", "failed", "unhealthy", "succeeded", "rolledBack", "drift"),
    target("failures", "failed"),
    target("good", "succeeded", "drift")
  ])
  expect(notices.map(({ message, target }) => [target, message.event, message.id, message.title])).toEqual([
    ["all", "rolledBack", `${run.id}.all`, "Deploy of shop was rolled back"],
    ["failures", "failed", `${run.id}.failures`, "Deploy of shop failed"]
  ])
  expect(notices[0]?.message).toMatchObject({ text: "is unhealthy", run: { id: run.id, state: "failed" } })
  expect(notices[0]?.message.run).not.toHaveProperty("steps")
})
