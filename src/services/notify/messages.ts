import { Option, Schema, Struct } from "effect"
import { randomUUID } from "node:crypto"
import type { NotifiedBackup, NotifiedDrift, NotifyEvent, NotifyMessage, NotifyTarget } from "../../schema/notify.ts"
import { computeRunVerdict, findFinalMessage, type Run } from "../../schema/runs.ts"
import { formatAge, formatDuration, pluralize } from "../../schema/words.ts"
import type { Notice } from "../runs/store.ts"
import { shortenMessage } from "./Post.ts"

const longestTitle = 200

const longestText = 1_500

const kinds: Readonly<Record<Run["kind"], string>> = {
  deploy: "Deploy",
  rollback: "Rollback",
  stack: "Stack action",
  build: "Build",
  exec: "Command",
  backup: "Backup",
  restore: "Restore",
  pull: "Pull",
  upsert: "Upsert",
  "deploy-all": "Deploy to several servers",
  prune: "Clean-up"
}

const words: Readonly<Record<NotifyEvent, string>> = {
  failed: "failed",
  unhealthy: "is unhealthy",
  succeeded: "succeeded",
  rolledBack: "was rolled back",
  backupFailed: "failed at its backup",
  backupOld: "has an old backup",
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
    run.kind === "rollback" && event === "rolledBack"
      ? `${what} succeeded`
      : `${what} ${words[run.kind === "backup" && event === "backupFailed" ? "failed" : event]}`,
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

type RunEnd = Pick<Run, "kind" | "result" | "state" | "steps" | "subject">

/** True when the previous release was started in place of a new version. */
const hasRolledBack = ({ steps }: RunEnd): boolean =>
  steps.some(({ status, step }) => step === "rollback" && (status === "done" || status === "warn"))

/** True for a backup that failed, and for a deploy or rollback that ended as it could not keep the data first. */
const hasFailedBackup = ({ kind, steps }: RunEnd): boolean =>
  kind === "backup" || steps.some(({ status, step }) => step === "backup" && status === "error")

/**
 * Health events of a failed run. Without a result it ended with an error, and has not started anything that could be
 * unhealthy.
 */
const judged = (run: RunEnd): ReadonlyArray<NotifyEvent> => {
  if (run.state !== "failed" || run.result === null || run.result === undefined) return []
  if (computeRunVerdict(run, run.result) === "unhealthy") return ["unhealthy"]
  return hasRolledBack(run) ? ["rolledBack", "unhealthy"] : []
}

const decodeTargets = Schema.decodeUnknownOption(Schema.Struct({
  targets: Schema.Array(Schema.Struct({ outcome: Schema.String, runId: Schema.NullOr(Schema.String) }))
}))

/**
 * True for a deploy to several servers if each of its deploys was announced as a run of its own. A refused deploy is
 * not a run.
 */
const isAnnounced = ({ kind, result }: RunEnd): boolean =>
  kind === "deploy-all" && Option.exists(
    decodeTargets(result),
    ({ targets }) => targets.every(({ outcome, runId }) => runId !== null || outcome === "notTried")
  )

/**
 * Events for the end of a run, the most specific first. Every unsuccessful end is also `failed`, so that a target with
 * that event alone misses none. A cancelled run has no events.
 */
export const findEvents = (run: RunEnd): ReadonlyArray<NotifyEvent> => {
  if (isAnnounced(run)) return []
  switch (run.state) {
    case "succeeded":
      return run.kind === "rollback" ? ["rolledBack", "succeeded"] : ["succeeded"]
    case "failed":
    case "interrupted":
      return [...hasFailedBackup(run) ? ["backupFailed" as const] : [], ...judged(run), "failed"]
    default:
      return []
  }
}

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

/** Notifications of a stack whose last backup is too old. */
export const buildBackupNotices = (
  { every, last, remotePath, server }: NotifiedBackup,
  targets: Targets,
  now: number
): ReadonlyArray<Notice> =>
  targets.filter(({ events }) => events.includes("backupOld")).map(({ name }) => ({
    target: name,
    message: {
      id: randomUUID(),
      event: "backupOld",
      time: new Date(now).toISOString(),
      title: shortenMessage(`The backup of ${lastPart(remotePath)} is old`, longestTitle),
      text: shortenMessage(
        `${remotePath} on "${server}" is to be backed up every ${formatDuration(every)}. ` +
          (last === null ? "No backup has all of its items." : `Its last backup was taken ${formatAge(now - last)}.`),
        longestText
      ),
      run: null,
      drift: null
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
