import { Link } from "wouter"
import type { Run } from "../../schema/runs/Run.ts"
import { formatBytes } from "../../schema/words/formatBytes.ts"
import { Badge } from "../ui/Badge.tsx"
import { Panel } from "../ui/Panel.tsx"
import { Duration } from "./RunPanel.tsx"
import { describeRun, describeRunOutcome, describeWait } from "./runWords.ts"
import { useRun } from "./useRun.ts"
import { useUnderWay } from "./useRuns.ts"

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
