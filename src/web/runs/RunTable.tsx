import { Link } from "wouter"
import type { Run } from "../../schema/runs/Run.ts"
import { findFinalMessage } from "../../schema/runs/runVerdict.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Duration } from "./RunPanel.tsx"
import { describeRun, describeRunOutcome } from "./runWords.ts"

export const RunTable = ({ runs }: { readonly runs: ReadonlyArray<Run> }) => (
  <ul className="rows runs">
    {runs.map((run) => {
      const { tone, word } = describeRunOutcome(run)
      return (
        <li key={run.id}>
          <span>
            <Badge tone={tone}>{word}</Badge>
          </span>
          <Link className="strong row-link" href={`/activity/${run.id}`}>{describeRun(run)}</Link>
          <span className="quiet one-line">{findFinalMessage(run) ?? run.steps.at(-1)?.detail ?? ""}</span>
          <span className="quiet">{run.requestedBy.name} · {run.requestedBy.door}</span>
          <span className="quiet end">
            <Duration run={run} />
          </span>
          <span className="end">
            <Age at={run.requestedAt} />
          </span>
        </li>
      )
    })}
  </ul>
)
