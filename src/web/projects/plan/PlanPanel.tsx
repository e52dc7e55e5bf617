import type { UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import type { ChangedFile } from "../../../schema/deploy/ChangedFile.ts"
import type { ContainerPlan, PlannedFile } from "../../../schema/deploy/ContainerPlan.ts"
import { describeHook } from "../../../schema/deploy/describeHook.ts"
import { filterChangedParts } from "../../../schema/deploy/plannedChanges.ts"
import { isPullNote } from "../../../schema/deploy/pullNote.ts"
import type { ComparedFile, Comparison } from "../../../schema/projects/Compare.ts"
import { formatBytes } from "../../../schema/words/formatBytes.ts"
import { formatCount } from "../../format/format.ts"
import { Age } from "../../ui/Age.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Empty, Loading, Warnings } from "../../ui/Notes.tsx"
import { Panel } from "../../ui/Panel.tsx"
import { ChangedFileRow } from "./ChangedFileRow.tsx"
import { computeChangedVariables } from "./computeChangedVariables.ts"
import { PlannedRow } from "./PlannedRow.tsx"
import { PlannedServiceRow } from "./PlannedServiceRow.tsx"

/** File of the plan with its difference from the deployed one. */
const withDifference = ({ change, name }: PlannedFile, compared: ComparedFile | undefined): ChangedFile => {
  if (change !== "changed" || compared === undefined) return { name, change }
  const { diff, keys } = compared
  return {
    name,
    change,
    ...diff === undefined ? {} : { diff },
    ...keys === undefined ? {} : { variables: computeChangedVariables(keys) }
  }
}

const Changes = ({ comparison, plan }: {
  readonly plan: ContainerPlan
  readonly comparison: Comparison | undefined
}) => {
  const { files, images } = filterChangedParts(plan)
  const services = plan.services.filter(({ change }) => change !== "keep")
  if (files.length + images.length + services.length === 0) {
    return (
      <Empty title="The server has what is here" icon="check">
        {formatCount(plan.files.length, "file")} compared by their hashes. A deploy starts the same stack again.
      </Empty>
    )
  }
  return (
    <>
      {files.map((file) => (
        <ChangedFileRow
          key={file.name}
          file={withDifference(file, comparison?.files.find(({ name }) => name === file.name))}
          aside={file.change === "removed" ? null : <span>{formatBytes(file.bytes)}</span>}
        />
      ))}
      {images.map(({ bytesToSend, change, name }) => (
        <PlannedRow
          key={`image ${name}`}
          name={name}
          kind="image"
          change={change}
          aside={<span>{formatBytes(bytesToSend)} to send</span>}
        />
      ))}
      {services.map((service) => <PlannedServiceRow key={`service ${service.name}`} service={service} />)}
    </>
  )
}

const titleOf = (plan: ContainerPlan): string => {
  const { files, images } = filterChangedParts(plan)
  const parts = [
    ...files.length === 0 ? [] : [formatCount(files.length, "file")],
    ...images.length === 0 ? [] : [formatCount(images.length, "image")]
  ]
  return parts.length === 0 ? "Nothing would change on the server" : `${parts.join(" and ")} would change on the server`
}

const sentence = (words: string) => `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`

/** Deploy plan with its preflight failures. */
export const PlanPanel = ({ again, comparison, plan: { data, dataUpdatedAt, error, isFetching, refetch } }: {
  readonly plan: UseQueryResult<ContainerPlan, Error>
  readonly comparison: UseQueryResult<Comparison, Error>
  /** Button that compares again. */
  readonly again: ReactNode
}) => (
  <Panel
    title="Plan"
    note={data === undefined ? undefined : titleOf(data)}
    aside={
      <>
        {isFetching ? <span>comparing …</span> : <Age at={dataUpdatedAt} before="compared " />}
        {again}
      </>
    }
  >
    <Loading query={{ data, error, refetch }} what="the plan" />
    {data === undefined ? null : (
      <>
        {data.obstacles.map((obstacle) => (
          <div className="note bad" role="alert" key={obstacle}>
            <Icon name="alert" />
            <span className="grow">{obstacle}</span>
          </div>
        ))}
        <Warnings
          texts={[...data.warnings, ...comparison.data?.warnings ?? []].filter((warning) => !isPullNote(warning))}
        />
        {data.warnings.filter(isPullNote).map((note) => <p key={note} className="note quiet">{sentence(note)}</p>)}
        <Changes plan={data} comparison={comparison.data} />
        {(data.hooks ?? []).map((hook, index) => (
          // A hook may contain the same command twice, so the index is the key.
          <PlannedRow key={`hook ${index}`} name={describeHook(hook)} kind="command" change="run" />
        ))}
      </>
    )}
  </Panel>
)
