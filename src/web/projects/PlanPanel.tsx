import type { UseQueryResult } from "@tanstack/react-query"
import type { ComparedFile, Comparison } from "../../schema/Compare.ts"
import type { ContainerPlan, PlannedFile } from "../../schema/ContainerPlan.ts"
import { Age } from "../ui/Age.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Empty, Failure, Waiting, Warnings } from "../ui/Notes.tsx"
import { Panel } from "../ui/Panel.tsx"
import { bytes, counted } from "../ui/words.ts"
import { Diff } from "./Diff.tsx"
import { linesChanged } from "./hunks.ts"
import { Keys } from "./Keys.tsx"
import { PlannedRow } from "./PlannedRow.tsx"
import { changedIn } from "./usePlan.ts"

const File = ({ compared, file: { bytes: size, change, name } }: {
  readonly file: PlannedFile
  readonly compared: ComparedFile | undefined
}) => {
  const diff = change === "changed" ? compared?.diff : undefined
  const lines = diff === undefined ? undefined : linesChanged(diff)
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
            {change === "removed" ? null : <span>{bytes(size)}</span>}
          </>
        }
      />
      {compared?.keys === undefined || change !== "changed" ? null : <Keys keys={compared.keys} />}
      {diff === undefined ? null : <Diff diff={diff} name={name} />}
    </>
  )
}

const Changes = ({ comparison, plan }: {
  readonly plan: ContainerPlan
  readonly comparison: Comparison | undefined
}) => {
  const { files, images } = changedIn(plan)
  const services = plan.services.filter(({ change }) => change !== "keep")
  if (files.length + images.length + services.length === 0) {
    return (
      <Empty title="The server has what is here" icon="check">
        {counted(plan.files.length, "file")} compared by their hashes. A deploy starts the same stack again.
      </Empty>
    )
  }
  return (
    <>
      {files.map((file) => (
        <File
          key={file.name}
          file={file}
          compared={comparison?.files.find(({ name }) => name === file.name)}
        />
      ))}
      {images.map(({ bytesToSend, change, name }) => (
        <PlannedRow
          key={`image ${name}`}
          name={name}
          kind="image"
          change={change}
          aside={<span>{bytes(bytesToSend)} to send</span>}
        />
      ))}
      {services.map(({ change, name }) => (
        <PlannedRow key={`service ${name}`} name={name} kind="service" change={change} />
      ))}
    </>
  )
}

const titleOf = (plan: ContainerPlan): string => {
  const { files, images } = changedIn(plan)
  const parts = [
    ...files.length === 0 ? [] : [counted(files.length, "file")],
    ...images.length === 0 ? [] : [counted(images.length, "image")]
  ]
  return parts.length === 0 ? "Nothing would change on the server" : `${parts.join(" and ")} would change on the server`
}

/** What a deploy would change on the server, and what it would stop at. */
export const PlanPanel = ({ comparison, plan: { data, dataUpdatedAt, error, isFetching, refetch } }: {
  readonly plan: UseQueryResult<ContainerPlan, Error>
  readonly comparison: UseQueryResult<Comparison, Error>
}) => (
  <Panel
    title="Plan"
    note={data === undefined ? undefined : titleOf(data)}
    aside={isFetching ? <span>comparing …</span> : <Age at={dataUpdatedAt} before="compared " />}
  >
    {error === null ? null : <Failure error={error} again={refetch} />}
    {data === undefined ? (error === null ? <Waiting what="the plan" /> : null) : (
      <>
        {data.obstacles.map((obstacle) => (
          <div className="note bad" role="alert" key={obstacle}>
            <Icon name="alert" />
            <span className="grow">{obstacle}</span>
          </div>
        ))}
        <Warnings texts={[...data.warnings, ...comparison.data?.warnings ?? []]} />
        <Changes plan={data} comparison={comparison.data} />
      </>
    )}
  </Panel>
)
