import { Link } from "wouter"
import type { Run } from "../../schema/Run.ts"
import { lastWords } from "../../schema/runVerdict.ts"
import { Age } from "../ui/Age.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Duration } from "./RunPanel.tsx"
import { aboutRun, outcomeOf } from "./runWords.ts"

/** Runs, one row each. */
export const RunTable = ({ runs }: { readonly runs: ReadonlyArray<Run> }) => (
  <ul className="rows">
    {runs.map((run) => {
      const { tone, word } = outcomeOf(run)
      return (
        <li key={run.id}>
          <Badge tone={tone}>{word}</Badge>
          <Link className="strong" href={`/activity/${run.id}`}>{aboutRun(run)}</Link>
          <span className="grow quiet one-line">{lastWords(run) ?? run.steps.at(-1)?.detail ?? ""}</span>
          <span className="quiet">{run.requestedBy.name} · {run.requestedBy.door}</span>
          <Duration run={run} />
          <Age at={run.requestedAt} />
        </li>
      )
    })}
  </ul>
)
