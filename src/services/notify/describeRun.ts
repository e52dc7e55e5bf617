import { Struct } from "effect"
import type { NotifyMessage } from "../../schema/notify/Notify.ts"
import type { NotifyEvent } from "../../schema/notify/NotifyTarget.ts"
import type { Run } from "../../schema/runs/Run.ts"
import { findFinalMessage } from "../../schema/runs/runVerdict.ts"

const longestTitle = 200
const longestText = 1_500

/** Truncates a text to a number of characters without splitting a character. */
export const shortenMessage = (text: string, most: number): string => {
  const cut = text.slice(0, most)
  return cut.length === text.length ? text : `${cut.replace(/[\ud800-\udbff]$/, "")}…`
}

const kinds: Readonly<Record<Run["kind"], string>> = {
  deploy: "Deploy",
  rollback: "Rollback",
  stack: "Stack action",
  build: "Build",
  exec: "Command",
  pull: "Pull",
  upsert: "Upsert",
  "deploy-all": "Deploy to several servers"
}

const words: Readonly<Record<NotifyEvent, string>> = {
  failed: "failed",
  unhealthy: "is unhealthy",
  succeeded: "succeeded",
  rolledBack: "was rolled back",
  drift: "drifts"
}

const lastPart = (path: string): string => path.split(/[/\\]/).findLast((part) => part !== "") ?? path

const subjectOf = ({ subject }: Run): string =>
  subject.appName ?? lastPart(subject.projectPath ?? subject.remotePath ?? subject.serverName ?? "")

/** Title of a run's end, such as `Deploy of shop failed`. */
const titleOf = (run: Run, event: NotifyEvent): string => {
  const kind = run.kind === "stack" && run.subject.action !== undefined
    ? `Stack ${run.subject.action}`
    : kinds[run.kind]
  const subject = subjectOf(run)
  const what = `${kind}${subject === "" ? "" : ` of ${subject}`}`
  return shortenMessage(
    run.kind === "rollback" && event === "rolledBack" ? `${what} succeeded` : `${what} ${words[event]}`,
    longestTitle
  )
}

/** Notification of a run that has ended. */
export const describeRun = (run: Run, event: NotifyEvent, target: string): NotifyMessage => ({
  id: `${run.id}.${target}`,
  event,
  time: run.endedAt ?? run.requestedAt,
  title: titleOf(run, event),
  text: shortenMessage(findFinalMessage(run) ?? "", longestText),
  run: Struct.pick(
    run,
    "id",
    "kind",
    "subject",
    "state",
    "requestedBy",
    "requestedAt",
    "startedAt",
    "endedAt"
  ),
  drift: null
})
