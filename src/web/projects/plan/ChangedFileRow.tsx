import type { ReactNode } from "react"
import type { ChangedFile } from "../../../schema/deploy/ChangedFile.ts"
import { ChangedNames } from "./ChangedNames.tsx"
import { Diff } from "./Diff.tsx"
import { countChangedLines } from "./hunks.ts"
import { PlannedRow } from "./PlannedRow.tsx"

/** Row of a file with its differences: lines of a text, variable names of an env file. */
export const ChangedFileRow = ({ aside, file: { change, diff, name, variables } }: {
  readonly file: ChangedFile
  readonly aside?: ReactNode
}) => {
  const lines = diff === undefined ? undefined : countChangedLines(diff)
  return (
    <>
      <PlannedRow
        name={name}
        change={change}
        aside={
          <>
            {lines === undefined ? null : (
              <span>
                <span className="good">+{lines.added}</span> <span className="bad">−{lines.removed}</span>
              </span>
            )}
            {aside}
          </>
        }
      />
      {variables === undefined ? null : <ChangedNames variables={variables} />}
      {diff === undefined ? null : <Diff diff={diff} name={name} />}
    </>
  )
}
