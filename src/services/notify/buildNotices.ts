import { randomUUID } from "node:crypto"
import type { NotifiedDrift, NotifyMessage } from "../../schema/notify/Notify.ts"
import type { NotifyTarget } from "../../schema/notify/NotifyTarget.ts"
import type { Run } from "../../schema/runs/Run.ts"
import { pluralize } from "../../schema/words/pluralize.ts"
import type { Notice } from "../runs/Outbox.ts"
import { describeRun } from "./describeRun.ts"
import { findEvents } from "./findEvents.ts"

type Targets = ReadonlyArray<NotifyTarget>

/** Notifications of a run that has ended: one per target, for the most specific event that it subscribes to. */
export const buildRunNotices = (run: Run, targets: Targets): ReadonlyArray<Notice> => {
  const all = findEvents(run)
  return targets.flatMap(({ events, name }) => {
    const event = all.find((one) => events.includes(one))
    return event === undefined ? [] : [{ target: name, message: describeRun(run, event, name) }]
  })
}

/** Notifications of an application that drifts. */
export const buildDriftNotices = (drift: NotifiedDrift, targets: Targets, now: number): ReadonlyArray<Notice> =>
  targets.filter(({ events }) => events.includes("drift")).map(({ name }) => ({
    target: name,
    message: {
      id: randomUUID(),
      event: "drift",
      time: new Date(now).toISOString(),
      title: `${drift.appName} drifts`,
      text: `The platform differs from what ${drift.projectPath} declares: ${
        pluralize(drift.differences, "difference")
      }.`,
      run: null,
      drift
    }
  }))

/** Message for testing a target. */
export const buildTestMessage = (target: string, now: number): NotifyMessage => ({
  id: randomUUID(),
  event: "test",
  time: new Date(now).toISOString(),
  title: "Berth can tell you",
  text: `This is a test of the target ${target}. Nothing has happened.`,
  run: null,
  drift: null
})
