import { Array, Clock, Duration, Effect, Option, type Queue, Random, Schema, Struct } from "effect"
import { randomUUID } from "node:crypto"
import {
  type NotifiedBackup,
  type NotifiedDrift,
  type NotifyEvent,
  NotifyFailed,
  type NotifyMessage,
  type NotifyTarget,
  NotifyTargetUnknown,
  type NotifyTested
} from "../../schema/notify.ts"
import { computeRunVerdict, findFinalMessage, type Run } from "../../schema/runs.ts"
import { formatAge, formatDuration, pluralize } from "../../schema/words.ts"
import { type ClaimedNotice, type Notice, Outbox } from "../runs/store.ts"
import { scrubSecrets, Settings } from "../settings/Settings.ts"
import { Post, render, shortenMessage } from "./Post.ts"

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

/** Finds the target with this name in the settings. */
export const findNotifyTarget = (name: string) =>
  Effect.flatMap(
    Settings,
    ({ targets }) => Effect.map(targets, Array.findFirst((target: NotifyTarget) => target.name === name))
  )

/** Sends a message to one target once, and answers the status of its receiver. The reason of a failure holds no secret. */
export const sendNotification = Effect.fn("notify.send")(function*(
  { access, format, name }: NotifyTarget,
  message: NotifyMessage
): Effect.fn.Return<number, NotifyFailed, Post | Settings> {
  const { secret, url } = yield* Effect.mapError(access, ({ message: reason }) => new NotifyFailed({ name, reason }))
  const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
  return yield* (yield* Post).send(url, render(format, message, secret, seconds)).pipe(
    Effect.catchAll(({ pause, reason }) =>
      Effect.flatMap(
        scrubSecrets(reason),
        (shown) => new NotifyFailed({ name, reason: shown, ...pause === undefined ? {} : { pause } })
      )
    )
  )
})

/** Time during which a failed notification is retried. */
const retryTime = Duration.hours(1)
/** Time for one attempt of a process, after which another process may claim the notification. */
const attemptTimeout = Duration.seconds(30)

const firstPause = 1_000
// Short, so that a receiver is notified soon after it has recovered.
const longestPause = 30_000
const longestAsked = 5 * 60_000

/**
 * Pause after a number of attempts: doubles from one second to half a minute, with 20 % jitter, so that the
 * notifications of an outage are not retried all at once. A receiver may request a longer pause.
 */
const backoffAfter = (attempts: number, asked = 0): Effect.Effect<Duration.Duration> =>
  Effect.map(Random.nextRange(0.8, 1.2), (jitter) => {
    const pause = Math.min(longestPause, firstPause * 2 ** Math.min(attempts - 1, 10)) * jitter
    return Duration.millis(Math.round(Math.max(pause, Math.min(asked, longestAsked))))
  })

const mostAtOnce = 16
const storePause = Duration.seconds(5)

/** Sends one claimed notification. It is removed once delivered or given up; otherwise it becomes due again later. */
const sendOne = (notice: ClaimedNotice) =>
  Effect.gen(function*() {
    const outbox = yield* Outbox
    const { age, attempts, id, message, target: name } = notice
    const target = yield* findNotifyTarget(name)
    if (Option.isNone(target)) {
      // A peer may have this target: peers share the store, not the settings.
      if (Duration.lessThan(age, retryTime)) return yield* outbox.postpone(notice, yield* backoffAfter(attempts))
      yield* Effect.logWarning(`Nobody was told "${message.title}": the settings have no target ${name} any more`)
      return yield* outbox.remove(id)
    }
    const told = yield* Effect.option(
      sendNotification(target.value, message).pipe(
        Effect.tapError((failed) =>
          Effect.gen(function*() {
            if (Duration.greaterThanOrEqualTo(age, retryTime)) {
              yield* Effect.logWarning(`${failed.message}. Giving up on "${message.title}"`)
              return yield* outbox.remove(id)
            }
            if (attempts === 1) yield* Effect.logWarning(`${failed.message}. It is tried again for an hour`)
            yield* outbox.postpone(notice, yield* backoffAfter(attempts, failed.pause))
          })
        )
      )
    )
    if (Option.isSome(told)) yield* outbox.remove(id)
  })

/** Sends due notifications until none is left. */
const sendDue = (attempted: (id: string) => void) =>
  Effect.gen(function*() {
    const outbox = yield* Outbox
    while (true) {
      const claimed = yield* outbox.claim(mostAtOnce, attemptTimeout)
      if (claimed.length === 0) return
      yield* Effect.forEach(
        claimed,
        (notice) =>
          sendOne(notice).pipe(
            // An interrupted notification is due again at once, for the next sender.
            Effect.onInterrupt(() => Effect.ignore(outbox.postpone(notice, Duration.zero))),
            Effect.ensuring(Effect.sync(() => attempted(notice.id)))
          ),
        { concurrency: "unbounded", discard: true }
      )
    }
  })

/**
 * Sends notifications until it is interrupted: at once when it is woken, and again when one is due.
 * @param attempted called with the id of each notification that was tried
 * @param longestWait pause after which it looks for notifications of other processes
 */
export const sendNotices = (
  wake: Queue.Dequeue<void>,
  attempted: (id: string) => void,
  longestWait: Effect.Effect<Option.Option<Duration.Duration>>
) =>
  Effect.gen(function*() {
    const outbox = yield* Outbox
    const round = Effect.gen(function*() {
      yield* sendDue(attempted)
      const due = yield* outbox.nextDue
      const waits = [...Option.toArray(due), ...Option.toArray(yield* longestWait)]
      const [wait] = waits.toSorted(Duration.Order)
      return Option.fromNullable(wait)
    })
    yield* Effect.forever(Effect.gen(function*() {
      const wait = yield* Effect.catchTag(round, "RunStoreUnavailable", () => Effect.succeedSome(storePause))
      yield* Option.match(wait, {
        onNone: () => wake.take,
        onSome: (pause) => Effect.raceFirst(wake.take, Effect.sleep(pause))
      })
    }))
  })

/** Sends a test message to one target, in one attempt. */
export const testTarget = (name: string) =>
  Effect.gen(function*() {
    const found = yield* findNotifyTarget(name)
    if (Option.isNone(found)) {
      const names = (yield* (yield* Settings).targets).map((target) => target.name)
      return yield* new NotifyTargetUnknown({ name, names })
    }
    const since = yield* Clock.currentTimeMillis
    const status = yield* sendNotification(found.value, buildTestMessage(name, since))
    const milliseconds = (yield* Clock.currentTimeMillis) - since
    return { name, format: found.value.format, status, milliseconds } satisfies NotifyTested
  })
