import type { ReactNode } from "react"
import { Link } from "wouter"
import { findFinalMessage, isEnded, type Run, type RunStep } from "../../schema/runs.ts"
import { formatBytes, formatDuration } from "../../schema/words.ts"
import { useRun, useUnderWay, type WatchedRun } from "../service.ts"
import { Age, Badge, Failure, Panel, useNow } from "../ui/components.tsx"
import {
  describeRun,
  describeRunOutcome,
  describeWait,
  Duration,
  listRemainingSteps,
  NotifyToggle,
  RunMessage
} from "./RunPanel.tsx"

/** Completed share of a step in percent: bytes while they are sent, and 50 if it cannot be measured. */
const shareOf = ({ progress, status }: RunStep): number => {
  if (status !== "running") return 100
  return progress === undefined || progress.total === 0 ? 50 : Math.round(100 * progress.done / progress.total)
}

const Sent = ({ now, step: { progress, startedAt } }: { readonly step: RunStep; readonly now: number }) => {
  if (progress === undefined) return null
  const seconds = (now - Date.parse(startedAt)) / 1_000
  return (
    <span className="numbers sent">
      <progress max={progress.total} value={progress.done} aria-label="Bytes sent" />
      <span>{formatBytes(progress.done)} of {formatBytes(progress.total)}</span>
      {seconds > 0.5 ? <span className="quiet">{formatBytes(Math.round(progress.done / seconds))}/s</span> : null}
    </span>
  )
}

const Cell = ({ now, step }: { readonly step: RunStep; readonly now: number }) => {
  const until = step.endedAt === null ? now : Date.parse(step.endedAt)
  return (
    <li className={`strip-step ${step.status}`} title={step.detail === "" ? undefined : step.detail}>
      <span className="fill" style={{ width: `${shareOf(step)}%` }} />
      <span className="name">
        {step.step}
        <span className="unseen">: {step.status}</span>
      </span>
      <span className="numbers quiet">
        {step.status === "skipped" ? "skipped" : formatDuration(Math.max(0, until - Date.parse(step.startedAt)))}
      </span>
    </li>
  )
}

const Words = ({ now, run }: { readonly run: Run; readonly now: number }) => {
  const step = run.steps.at(-1)
  if (isEnded(run.state)) return <RunMessage run={run} />
  if (step === undefined) return <span className="quiet">It {describeWait(run)}.</span>
  return (
    <>
      <span>{step.detail === "" ? step.step : step.detail}</span>
      {step.status === "running" ? <Sent step={step} now={now} /> : null}
    </>
  )
}

/** Text for screen readers: steps and the outcome only, as bytes and seconds change too fast. */
const spoken = (run: Run): string => {
  const step = run.steps.at(-1)
  if (isEnded(run.state)) return `${describeRunOutcome(run).word}. ${findFinalMessage(run) ?? ""}`.trim()
  return step === undefined ? `It ${describeWait(run)}` : `${step.step}: ${step.status}`
}

/** Run as one strip whose steps fill up; its height stays the same from the first step to the end. */
export const RunStrip = ({ aside, next, title, watched: { failure, run } }: {
  readonly title: (run: Run) => string
  readonly watched: WatchedRun
  readonly aside?: ReactNode
  /** Next actions after the run. */
  readonly next?: ReactNode
}) => {
  const now = useNow()
  // Rendered from the start: a live region that is inserted with its text is not announced.
  const status = <p className="unseen" role="status">{run === undefined ? "" : `${title(run)}: ${spoken(run)}`}</p>
  if (run === undefined) {
    return (
      <>
        {status}
        <Failure error={failure} />
      </>
    )
  }
  const { tone, word } = describeRunOutcome(run)
  const ended = isEnded(run.state)
  return (
    <>
      {status}
      <section className="panel strip" aria-label={title(run)}>
        <div className="strip-line">
          <h2>{title(run)}</h2>
          <Badge tone={tone}>{word}</Badge>
          <span className="quiet strip-by">
            by {run.requestedBy.name} <Age at={run.requestedAt} />
          </span>
          <span className="aside">
            {!ended && failure !== undefined ? <span className="warn">not connected</span> : null}
            {ended ? null : <NotifyToggle />}
            {aside}
            <Duration run={run} />
            <Link className="link" href={`/activity/${run.id}`}>Open the run</Link>
          </span>
        </div>
        <ol className="strip-steps">
          {run.steps.map((step) => <Cell key={step.step} step={step} now={now} />)}
          {ended ? null : listRemainingSteps(run).map(([step]) => (
            <li key={step} className="strip-step waiting-step">
              <span className="name">
                {step}
                <span className="unseen">: not begun</span>
              </span>
              <span className="quiet">–</span>
            </li>
          ))}
          {ended && run.steps.length === 0 ? <li className="quiet">It ended before its first step.</li> : null}
        </ol>
        <div className="strip-words">
          <Words run={run} now={now} />
          {next}
        </div>
      </section>
    </>
  )
}

const Row = ({ live, run: listed }: { readonly run: Run; readonly live: boolean }) => {
  const watched = useRun(live ? listed.id : undefined)
  const run = watched.run ?? listed
  const step = run.steps.at(-1)
  const { tone, word } = describeRunOutcome(run)
  return (
    <li>
      <Badge tone={tone}>{word}</Badge>
      <Link className="strong" href={`/activity/${run.id}`}>{describeRun(run)}</Link>
      <span className="grow quiet">
        {step === undefined ? describeWait(run) : step.step}
        {step?.progress === undefined
          ? ""
          : ` · ${formatBytes(step.progress.done)} of ${formatBytes(step.progress.total)}`}
      </span>
      <Duration run={run} />
    </li>
  )
}

// Each stream takes one of the browser's six connections to the service.
const streamed = 2

/** Queued and running runs; the first two are followed live. */
export const UnderWay = () => {
  const runs = useUnderWay()
  return runs.length === 0 ? null : (
    <Panel title="Under way" note={`${runs.length}`}>
      <ul className="rows">
        {runs.map((run, index) => <Row key={run.id} run={run} live={index < streamed} />)}
      </ul>
    </Panel>
  )
}
