import type { ReactNode } from "react"
import { Link, useLocation } from "wouter"
import { isEnded, type Run } from "../../schema/runs/Run.ts"
import { findFinalMessage } from "../../schema/runs/runVerdict.ts"
import { formatDuration } from "../format/format.ts"
import { Age, useNow } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Failure, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { NotifyToggle } from "./NotifyToggle.tsx"
import { RunMessage } from "./RunMessage.tsx"
import { describeRunOutcome, describeWait } from "./runWords.ts"
import { Steps } from "./Steps.tsx"
import type { WatchedRun } from "./useRun.ts"

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
