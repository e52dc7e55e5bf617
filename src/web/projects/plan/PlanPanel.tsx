import type { UseQueryResult } from "@tanstack/react-query"
import { type ReactNode, useState } from "react"
import { describePlannedBackup } from "../../../schema/backups.ts"
import type { ComparedFile, Comparison } from "../../../schema/compare.ts"
import {
  type ChangedFile,
  type ContainerPlan,
  countChanges,
  describeBuilder,
  describeHook,
  describeImageBuild,
  describeKeptData,
  filterChangedParts,
  isPullNote,
  type PlannedFile
} from "../../../schema/deploys.ts"
import { withEnvironment } from "../../../schema/environments.ts"
import type { LocalProject } from "../../../schema/projects.ts"
import type { Run } from "../../../schema/runs.ts"
import { type PlannedTarget, targetsAtOnce } from "../../../schema/targets.ts"
import { describeProgram, listFurtherPrograms } from "../../../schema/trust.ts"
import { formatBytes, formatList } from "../../../schema/words.ts"
import { formatCount, limitConcurrency, useCall, useServers, useStartRun } from "../../service.ts"
import { Age, Empty, Failure, Icon, Loading, Panel, Waiting, Warnings } from "../../ui/components.tsx"
import { Confirm, useProtection } from "../../ui/dialogs.tsx"
import { ChangedFileRow, computeChangedVariables, PlannedRow, PlannedServiceRow } from "./rows.tsx"

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
  const secrets = (plan.secrets ?? []).filter(({ change }) => change !== "same")
  if (files.length + images.length + services.length + secrets.length === 0) {
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
      {images.map((image) => (
        <PlannedRow
          key={`image ${image.name}`}
          name={image.name}
          kind="image"
          change={image.change}
          aside={<span>{describeImageBuild(image) || `${formatBytes(image.bytesToSend)} to send`}</span>}
        />
      ))}
      {secrets.map(({ change, name, services, source }) => (
        <PlannedRow
          key={`secret ${name}`}
          name={name}
          kind="secret"
          change={change}
          aside={<span>{[source, services.join(", ")].filter((text) => text !== "").join(" for ")}</span>}
        />
      ))}
      {services.map((service) => <PlannedServiceRow key={`service ${service.name}`} service={service} />)}
    </>
  )
}

const titleOf = (plan: ContainerPlan): string => {
  const { files, images, removed } = filterChangedParts(plan)
  const parts = [
    ...files.length === 0 ? [] : [formatCount(files.length, "file")],
    ...images.length === 0 ? [] : [formatCount(images.length, "image")],
    ...removed.length === 0 ? [] : [formatCount(removed.length, "service")]
  ]
  return parts.length === 0
    ? "Nothing would change on the server"
    : `${formatList(parts, "and")} would change on the server`
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
        {(data.backups ?? []).map((backup) => (
          <PlannedRow key={`backup ${backup.item}`} name={describePlannedBackup(backup)} kind="backup" change="keep" />
        ))}
        {describeKeptData(data.references).map((kept) => <p key={kept} className="note quiet">{sentence(kept)}</p>)}
        {describeBuilder(data).map((text) => <p key={text} className="note quiet">{sentence(text)}</p>)}
        {listFurtherPrograms(data.programs).map((program) => (
          <PlannedRow
            key={`${program.kind} ${program.name}`}
            name={describeProgram(program)}
            kind="here"
            change={program.kind === "link" ? "follow" : "run"}
          />
        ))}
      </>
    )}
  </Panel>
)

const refusalOf = ({ error, plan }: PlannedTarget): string | undefined => error ?? plan?.obstacles[0]

const Target = ({ target }: { readonly target: PlannedTarget }) => {
  const refusal = refusalOf(target)
  const count = target.plan === null ? 0 : countChanges(target.plan)
  return (
    <li>
      <span className="strong">{target.server}</span>
      <span className={refusal === undefined ? "quiet" : "bad"}>
        <code>{target.remotePath}</code>:{" "}
        {refusal ?? (count === 0 ? "nothing differs, the same stack is started again" : formatCount(count, "change"))}
      </span>
    </li>
  )
}

/** Plans the deploys to all targets of a project or to those on one server, asks once, and starts them as one run. */
export const DeployTargets = ({ onClose, onStarted, project: { environment, name, path, targets = [] } }: {
  readonly project: LocalProject
  readonly onClose: () => void
  readonly onStarted: (run: Run) => void
}) => {
  const stored = useServers().data ?? []
  const [chosen, setChosen] = useState("")
  const wanted = {
    projectPath: path,
    ...withEnvironment({ environment }),
    ...chosen === "" ? {} : { servers: [chosen] }
  }
  const { data: plan, error } = useCall(
    ["plan", path, "targets", environment, chosen],
    (berth) => limitConcurrency(berth.planTargets({ payload: wanted }))
  )
  const { confirmation, field, isConfirmed } = useProtection(plan?.protected === true ? plan.environment : undefined)
  const start = useStartRun((run) => {
    onClose()
    onStarted(run)
  })
  const failure = start.error ?? error
  const planned = plan?.targets ?? []
  const isReady = planned.length > 0 && planned.every((target) => refusalOf(target) === undefined)
  return (
    <Confirm
      title={`Deploy ${name} to its servers?`}
      action={plan === undefined ? "Planning …" : `Deploy to ${formatCount(planned.length, "target")}`}
      disabled={start.isPending || !isReady || !isConfirmed}
      stays
      onClose={onClose}
      onConfirm={() =>
        start.mutate((berth) =>
          berth.deployTargets({
            payload: {
              ...wanted,
              ...confirmation,
              planHash: plan?.planHash ?? null
            }
          })
        )}
    >
      <select className="select" aria-label="Targets" value={chosen} onChange={({ target }) => setChosen(target.value)}>
        <option value="">all targets</option>
        {[...new Set(targets.map(({ serverId }) => serverId))].map((id) => (
          <option key={id} value={id}>{stored.find((server) => server.id === id)?.name ?? id}</option>
        ))}
      </select>
      <Failure error={failure} />
      {plan === undefined && failure === null ? <Waiting what="the plans" /> : null}
      <ul className="what">
        {planned.map((target) => <Target key={`${target.serverId} ${target.remotePath}`} target={target} />)}
      </ul>
      {field}
      <p className="quiet">
        {plan?.parallel === true
          ? `Up to ${targetsAtOnce} at once; none begins after a failure.`
          : "One after the other, until one fails or is not healthy."}{" "}
        Each is a run of its own. If anything has moved since these plans were made, nothing is changed.
      </p>
    </Confirm>
  )
}
