import { useMutation } from "@tanstack/react-query"
import { Option, Schema } from "effect"
import { type ReactNode, useState, useSyncExternalStore } from "react"
import { Link, useLocation } from "wouter"
import {
  computeRunVerdict,
  findFinalMessage,
  isEnded,
  type Run,
  type RunStep,
  splitFailure
} from "../../schema/runs.ts"
import { DeployedTarget, listBegunDeploys, outcomeWords } from "../../schema/targets.ts"
import { formatBytes, formatDuration } from "../../schema/words.ts"
import { call, type WatchedRun } from "../service.ts"
import {
  Age,
  Badge,
  Button,
  Failure,
  Icon,
  type IconName,
  Panel,
  type Tone,
  useNow,
  Waiting
} from "../ui/components.tsx"
import { Confirm } from "../ui/dialogs.tsx"

const key = "berth-notify"
const listeners = new Set<() => void>()

/** True if the browser can notify: on https or localhost, unless the user has denied it. */
const canNotify = (): boolean => isSecureContext && "Notification" in window && Notification.permission !== "denied"

const isOn = () => canNotify() && Notification.permission === "granted" && localStorage.getItem(key) === "on"

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** True if the user has turned on notifications about ended runs. */
export const useEndNotices = (): boolean => useSyncExternalStore(subscribe, isOn)

/** Turns notifications on, after the browser has asked for permission, or off. */
const setEndNotices = async (wanted: boolean): Promise<void> => {
  if (wanted && await Notification.requestPermission() === "granted") localStorage.setItem(key, "on")
  else localStorage.removeItem(key)
  for (const listener of listeners) listener()
}

/** Button that turns browser notifications about ended runs on or off. */
export const NotifyToggle = () => {
  const isOn = useEndNotices()
  if (!canNotify()) return null
  return (
    <Button look="small" icon={isOn ? "check" : "send"} onClick={() => setEndNotices(!isOn)}>
      {isOn ? "You will be told" : "Tell me when it ends"}
    </Button>
  )
}

/** Base name of a path. */
export const toBaseName = (path: string): string => path.split(/[\\/]/).findLast((name) => name !== "") ?? path

export const describeRun = ({ kind, subject }: Pick<Run, "kind" | "subject">): string => {
  const what = subject.appName ?? subject.projectPath ?? subject.remotePath
  const name = what === undefined ? "" : toBaseName(what)
  if (kind === "prune") return `Clean up ${subject.serverName ?? "a server"}`
  if (kind === "deploy-all") return `Deploy ${name} to its servers`
  const verb = kind === "stack" ? subject.action ?? kind : kind
  return `${verb.slice(0, 1).toUpperCase()}${verb.slice(1)} ${name}`.trim()
}

/** Describes the run ahead of a queued one. */
export const describeWait = ({ waitsFor }: Run): string => {
  if (waitsFor === undefined) return "waits for its turn"
  const about = describeRun(waitsFor)
  return `waits for ${about.slice(0, 1).toLowerCase()}${about.slice(1)} by ${waitsFor.requestedBy.name}`
}

const statusOf = ({ result }: Run): string | undefined =>
  typeof result === "object" && result !== null && "status" in result && typeof result.status === "string"
    ? result.status
    : undefined

/** Outcome of a run: the status in its result if more specific than its state, else its state. */
export const describeRunOutcome = (run: Run): { readonly word: string; readonly tone: Tone } => {
  switch (run.state) {
    case "queued":
      return { word: "waits", tone: "idle" }
    case "running":
      return { word: "running", tone: "busy" }
    case "cancelled":
    case "interrupted":
      return { word: run.state, tone: "warn" }
    case "failed":
      return computeRunVerdict(run, run.result) === "unhealthy"
        ? { word: statusOf(run) ?? "unhealthy", tone: "warn" }
        : { word: statusOf(run) ?? "failed", tone: "bad" }
    case "succeeded":
      return { word: statusOf(run) ?? "succeeded", tone: "good" }
  }
}

const expected: Partial<Record<Run["kind"], ReadonlyArray<readonly [step: string, detail: string]>>> = {
  deploy: [
    ["preflight", "Check the server and its Docker"],
    ["upload", "Send the files that differ"],
    ["load", "Send missing image layers"],
    ["start", "Start the stack"],
    ["health", "Wait until it is healthy"]
  ]
}

/** Remaining steps of a run. */
export const listRemainingSteps = ({ kind, steps }: Run): ReadonlyArray<readonly [step: string, detail: string]> => {
  const begun = new Set(steps.map(({ step }) => step))
  return (expected[kind] ?? []).filter(([step]) => !begun.has(step))
}

/** Final message of a run: highlights the cause of a failure, shows failed health checks, and folds the other output. */
export const RunMessage = ({ run }: { readonly run: Run }) => {
  const words = findFinalMessage(run)
  const { tone } = describeRunOutcome(run)
  if (words === undefined) return <span className="quiet">It has ended.</span>
  const { cause, checks, output, state } = splitFailure(words)
  return (
    <div className="last-words">
      <p>
        <span className={`strong ${tone}`}>{cause}</span>
        {state === "" ? null : <span>{` ${state}`}</span>}
      </p>
      {checks === "" ? null : <p className="checks">{checks}</p>}
      {output === "" ? null : (
        <details>
          <summary>What was printed</summary>
          <pre>{output}</pre>
        </details>
      )}
    </div>
  )
}

const marks: Partial<Record<RunStep["status"], IconName>> = {
  done: "check",
  error: "cross",
  warn: "alert",
  skipped: "minus"
}

const Progress = ({ now, step: { progress, startedAt, status } }: { readonly step: RunStep; readonly now: number }) => {
  if (progress === undefined || status !== "running") return null
  const seconds = (now - Date.parse(startedAt)) / 1_000
  return (
    <div className="progress numbers">
      <progress max={progress.total} value={progress.done} aria-label="Bytes sent" />
      <span>{formatBytes(progress.done)} of {formatBytes(progress.total)}</span>
      {seconds > 0.5 ? <span className="quiet">{formatBytes(Math.round(progress.done / seconds))}/s</span> : null}
    </div>
  )
}

const Step = ({ now, step }: { readonly step: RunStep; readonly now: number }) => {
  const mark = marks[step.status]
  const until = step.endedAt === null ? now : Date.parse(step.endedAt)
  return (
    <li className={`step ${step.status}`}>
      <span className="mark">{mark === undefined ? null : <Icon name={mark} />}</span>
      <span className="name">
        {step.step}
        <span className="unseen">: {step.status}</span>
      </span>
      <span className="time numbers">
        {step.status === "skipped" ? "" : formatDuration(Math.max(0, until - Date.parse(step.startedAt)))}
      </span>
      {step.detail === "" ? null : <span className="detail">{step.detail}</span>}
      <Progress step={step} now={now} />
    </li>
  )
}

/** Steps of a run: done, running with transferred bytes, and remaining. */
const Steps = ({ run }: { readonly run: Run }) => {
  const now = useNow()
  return (
    <ol className="steps">
      {run.steps.map((step) => <Step key={step.step} step={step} now={now} />)}
      {isEnded(run.state) ?
        null :
        listRemainingSteps(run).map(([step, detail]) => (
          <li key={step} className="step waiting-step">
            <span className="mark" />
            <span className="name">
              {step}
              <span className="unseen">: not begun</span>
            </span>
            <span />
            <span className="detail">{detail}</span>
          </li>
        ))}
    </ol>
  )
}

/** Elapsed or total time of a run. */
export const Duration = ({ run: { endedAt, requestedAt, startedAt } }: { readonly run: Run }) => {
  const now = useNow()
  const from = Date.parse(startedAt ?? requestedAt)
  return (
    <span className="numbers">
      {formatDuration(Math.max(0, (endedAt === null ? now : Date.parse(endedAt)) - from))}
    </span>
  )
}

/** Steps, output and outcome of a run, live while it runs. */
export const RunPanel = ({ aside, empty, title, watched: { failure, run } }: {
  readonly title: (run: Run | undefined) => string
  readonly watched: WatchedRun
  /** Placeholder without a run; a loading note if absent. */
  readonly empty?: ReactNode
  readonly aside?: ReactNode
}) => {
  const [place] = useLocation()
  if (run === undefined) {
    return (
      <Panel title={title(undefined)}>
        {failure === undefined ? empty ?? <Waiting what="the run" /> : <Failure error={failure} />}
      </Panel>
    )
  }
  const { tone, word } = describeRunOutcome(run)
  const ended = isEnded(run.state)
  const last = findFinalMessage(run)
  return (
    <Panel
      title={title(run)}
      note={<Badge tone={tone}>{word}</Badge>}
      aside={
        <>
          {ended ? null : <NotifyToggle />}
          {aside}
          {!ended && failure !== undefined ? <span className="warn">not connected</span> : null}
          <Duration run={run} />
        </>
      }
      tone={last !== undefined && ended && tone !== "busy" && tone !== "idle" ? tone : ""}
      footer={last !== undefined && ended
        ? (
          <>
            <RunMessage run={run} />
            {place === `/activity/${run.id}`
              ? null
              : <Link className="link" href={`/activity/${run.id}`}>Open the run</Link>}
          </>
        )
        : (
          <span className="quiet">
            <Link className="link" href={`/activity/${run.id}`}>This run</Link> was asked for by {run.requestedBy.name}
            {" "}
            <Age at={run.requestedAt} />
            {ended ? "." : ". It goes on when you leave this page."}
          </span>
        )}
    >
      {run.waitsFor === undefined ? null : (
        <p className="body quiet">
          It {describeWait(run)}: <Link className="link" href={`/activity/${run.waitsFor.id}`}>see that run</Link>.
        </p>
      )}
      {run.steps.length === 0 && ended
        ? <p className="body quiet">It ended before its first step.</p>
        : <Steps run={run} />}
    </Panel>
  )
}

interface Row {
  readonly label: string
  readonly id: string | null
  readonly words: string
  readonly tone: string
}

const decodeResult = Schema.decodeUnknownOption(Schema.Struct({ targets: Schema.Array(DeployedTarget) }))

const ended = ({ outcome, remotePath, runId, server }: DeployedTarget): Row => ({
  label: `${server} · ${remotePath}`,
  id: runId,
  words: outcomeWords[outcome],
  tone: outcome === "deployed" ? "good" : outcome === "notTried" ? "quiet" : "bad"
})

/** Targets of a deploy to several servers, with links to their runs; renders nothing for other runs. */
export const Targets = ({ run }: { readonly run: Run }) => {
  if (run.kind !== "deploy-all") return null
  const rows = Option.match(decodeResult(run.result), {
    onNone: () => listBegunDeploys(run).map((deploy): Row => ({ ...deploy, words: "begun", tone: "quiet" })),
    onSome: ({ targets }) => targets.map(ended)
  })
  return rows.length === 0 ? null : (
    <Panel title="Targets" note="each deploy is a run of its own">
      <ul className="body what">
        {rows.map(({ id, label, tone, words }) => (
          <li key={label}>
            {id === null ? <span>{label}</span> : <Link className="link" href={`/activity/${id}`}>{label}</Link>}
            <span className={tone}>{words}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

/** Cancels a run after confirmation. */
export const CancelRun = ({ run }: { readonly run: Run }) => {
  const [asking, setAsking] = useState(false)
  const { error, isPending, isSuccess, mutate } = useMutation({
    mutationFn: () => call((berth) => berth.cancelRun({ path: { id: run.id } }))
  })
  return (
    <>
      <Button icon="stop" look="small" changes disabled={isPending || isSuccess} onClick={() => setAsking(true)}>
        {isPending || isSuccess ? "Stopping …" : "Cancel"}
      </Button>
      {error === null ? null : <span className="bad" role="alert">{error.message}</span>}
      {asking
        ? (
          <Confirm
            title={`Cancel: ${describeRun(run)}?`}
            action="Cancel the run"
            danger
            onClose={() => setAsking(false)}
            onConfirm={() => {
              setAsking(false)
              mutate()
            }}
          >
            <p>
              {run.kind === "stack"
                ? "What the server was told to do comes to its end first, and stays."
                : "It stops at the next safe point, and what it has begun is undone as after a failure."}
            </p>
          </Confirm>
        )
        : null}
    </>
  )
}
