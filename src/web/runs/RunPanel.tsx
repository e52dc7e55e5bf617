import type { ReactNode } from "react"
import { Link } from "wouter"
import { isEnded, type Run } from "../../schema/Run.ts"
import { lastWords } from "../../schema/runVerdict.ts"
import { Age, useNow } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Failure, Waiting } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { lasted } from "../ui/words.ts"
import { outcomeOf } from "./runWords.ts"
import { Steps } from "./Steps.tsx"
import type { WatchedRun } from "./useRun.ts"

/** How long a run has taken, or takes already. */
export const Duration = ({ run: { endedAt, requestedAt, startedAt } }: { readonly run: Run }) => {
  const now = useNow()
  const from = Date.parse(startedAt ?? requestedAt)
  return <span className="numbers">{lasted(Math.max(0, (endedAt === null ? now : Date.parse(endedAt)) - from))}</span>
}

/** A run as it goes on, or as it went. */
export const RunPanel = ({ aside, empty, title, watched: { failure, run } }: {
  readonly title: (run: Run | undefined) => string
  readonly watched: WatchedRun
  /** What is shown while there is no run; without it there is one on its way. */
  readonly empty?: ReactNode
  readonly aside?: ReactNode
}) => {
  if (run === undefined) {
    return (
      <Panel title={title(undefined)}>
        {failure === undefined ? empty ?? <Waiting what="the run" /> : <Failure error={failure} />}
      </Panel>
    )
  }
  const { tone, word } = outcomeOf(run)
  const ended = isEnded(run.state)
  const last = lastWords(run)
  return (
    <Panel
      title={title(run)}
      note={<Badge tone={tone}>{word}</Badge>}
      aside={
        <>
          {aside}
          {!ended && failure !== undefined ? <span className="warn">not connected</span> : null}
          <Duration run={run} />
        </>
      }
      tone={last !== undefined && ended && tone !== "busy" && tone !== "idle" ? tone : ""}
      footer={last !== undefined && ended
        ? <span className={tone}>{last}</span>
        : (
          <span className="quiet">
            <Link className="link" href={`/activity/${run.id}`}>This run</Link> was asked for by {run.requestedBy.name}
            {" "}
            <Age at={run.requestedAt} />
            {ended ? "." : ". It goes on when you leave this page."}
          </span>
        )}
    >
      {run.steps.length === 0 && ended
        ? <p className="body quiet">It ended before its first step.</p>
        : <Steps run={run} />}
    </Panel>
  )
}
