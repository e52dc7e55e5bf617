import type { UseQueryResult } from "@tanstack/react-query"
import type { ComparedFile, Comparison } from "../../schema/Compare.ts"
import { Age } from "../ui/Age.tsx"
import { Empty, Failure, Waiting, Warnings } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { bytes, counted } from "../ui/words.ts"
import { Diff } from "./Diff.tsx"
import { linesChanged } from "./hunks.ts"
import { changesOf } from "./standing.ts"

const Keys = ({ keys }: { readonly keys: NonNullable<ComparedFile["keys"]> }) => (
  <ul className="keys" aria-label="Variables">
    {keys.localOnly.map((name) => (
      <li className="chip" key={`+${name}`}>
        <b className="good">+</b>
        <code>{name}</code>
      </li>
    ))}
    {keys.different.map((name) => (
      <li className="chip" key={`~${name}`}>
        <b className="warn">~</b>
        <code>{name}</code>
        <span className="quiet">other value</span>
      </li>
    ))}
    {keys.remoteOnly.map((name) => (
      <li className="chip" key={`-${name}`}>
        <b className="bad">−</b>
        <code>{name}</code>
        <span className="quiet">goes</span>
      </li>
    ))}
  </ul>
)

const PlannedFile = ({ file }: { readonly file: ComparedFile }) => {
  const isNew = file.status === "local-only"
  const lines = file.diff === undefined || isNew ? undefined : linesChanged(file.diff)
  return (
    <>
      <div className="plan-row">
        <span className={`sign ${isNew ? "good" : "warn"}`} aria-hidden="true">{isNew ? "+" : "~"}</span>
        <code>{file.name}</code>
        <span className="quiet">{isNew ? "is new" : "changes"}</span>
        <span className="aside numbers">
          {lines === undefined ? null : (
            <span>
              <span className="good">+{lines.added}</span> <span className="bad">−{lines.removed}</span>
            </span>
          )}
          <span>{bytes(file.localSize ?? 0)}</span>
        </span>
      </div>
      {file.keys === undefined ? null : <Keys keys={file.keys} />}
      {lines === undefined || file.diff === undefined ? null : <Diff diff={file.diff} name={file.name} />}
    </>
  )
}

/** What a deploy would change on the server. */
export const PlanPanel = ({ comparison: { data, dataUpdatedAt, error, isFetching, refetch } }: {
  readonly comparison: UseQueryResult<Comparison, Error>
}) => {
  const changes = data === undefined ? [] : changesOf(data)
  const kept = data?.summary["remote-only"] ?? 0
  return (
    <Panel
      title="Plan"
      note={data === undefined
        ? undefined
        : changes.length === 0
        ? "Nothing would change on the server"
        : `${counted(changes.length, "file")} would change on the server`}
      aside={isFetching ? <span>comparing …</span> : <Age at={dataUpdatedAt} before="compared " />}
    >
      {error === null ? null : <Failure error={error} again={refetch} />}
      {data === undefined ? (error === null ? <Waiting what="the plan" /> : null) : (
        <>
          <Warnings texts={data.warnings} />
          {changes.length === 0
            ? (
              <Empty title="The server has what is here" icon="check">
                {counted(data.summary.same, "file")} compared by their hashes. A deploy starts the same stack again.
              </Empty>
            )
            : changes.map((file) => <PlannedFile key={file.name} file={file} />)}
          {kept === 0 ? null : (
            <div className="plan-row quiet">
              {counted(kept, "file is", "files are")} only on the server, and {kept === 1 ? "stays" : "stay"} there.
            </div>
          )}
        </>
      )}
    </Panel>
  )
}
