import { isEnded, type Run, type RunStep } from "../../schema/runs/Run.ts"
import { formatBytes } from "../../schema/words/formatBytes.ts"
import { formatDuration } from "../format/format.ts"
import { useNow } from "../ui/Age.tsx"
import { Icon, type IconName } from "../ui/Icon.tsx"
import { listRemainingSteps } from "./runWords.ts"

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
export const Steps = ({ run }: { readonly run: Run }) => {
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
