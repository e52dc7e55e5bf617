import { Link } from "wouter"
import type { Run } from "../../schema/Run.ts"
import { Duration } from "../runs/RunPanel.tsx"
import { aboutRun, outcomeOf } from "../runs/runWords.ts"
import { useRun } from "../runs/useRun.ts"
import { useUnderWay } from "../runs/useRuns.ts"
import { Badge } from "../ui/Badge.tsx"
import { Panel } from "../ui/Panel.tsx"
import { bytes } from "../ui/words.ts"

const Row = ({ live, run: listed }: { readonly run: Run; readonly live: boolean }) => {
  const watched = useRun(live ? listed.id : undefined)
  const run = watched.run ?? listed
  const step = run.steps.at(-1)
  const { tone, word } = outcomeOf(run)
  return (
    <li>
      <Badge tone={tone}>{word}</Badge>
      <Link className="strong" href={`/activity/${run.id}`}>{aboutRun(run)}</Link>
      <span className="grow quiet">
        {step === undefined ? "waits for its turn" : step.step}
        {step?.progress === undefined ? "" : ` · ${bytes(step.progress.done)} of ${bytes(step.progress.total)}`}
      </span>
      <Duration run={run} />
    </li>
  )
}

// Each stream takes one of the six connections that a browser has to the service.
const streamed = 2

/** The runs that are under way, as they go on. */
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
