import type { Run } from "../../schema/runs/Run.ts"
import { findFinalMessage } from "../../schema/runs/runVerdict.ts"
import { splitFailure } from "../../schema/runs/splitFailure.ts"
import { describeRunOutcome } from "./runWords.ts"

/** Final message of a run: highlights the cause of a failure, and folds the output of programs. */
export const RunMessage = ({ run }: { readonly run: Run }) => {
  const words = findFinalMessage(run)
  const { tone } = describeRunOutcome(run)
  if (words === undefined) return <span className="quiet">It has ended.</span>
  const { cause, output, state } = splitFailure(words)
  return (
    <div className="last-words">
      <p>
        <span className={`strong ${tone}`}>{cause}</span>
        {state === "" ? null : <span>{` ${state}`}</span>}
      </p>
      {output === "" ? null : (
        <details>
          <summary>What was printed</summary>
          <pre>{output}</pre>
        </details>
      )}
    </div>
  )
}
