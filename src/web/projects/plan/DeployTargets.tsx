import { useState } from "react"
import { countChanges } from "../../../schema/deploy/plannedChanges.ts"
import type { LocalProject } from "../../../schema/projects/Project.ts"
import type { Run } from "../../../schema/runs/Run.ts"
import { type PlannedTarget, targetsAtOnce } from "../../../schema/targets/Targets.ts"
import { formatCount } from "../../format/format.ts"
import { limitConcurrency, useCall, useServers } from "../../service/queries.ts"
import { useStartRun } from "../../service/startRun.ts"
import { Confirm } from "../../ui/Confirm.tsx"
import { Failure, Waiting } from "../../ui/Notes.tsx"

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
export const DeployTargets = ({ onClose, onStarted, project: { name, path, targets = [] } }: {
  readonly project: LocalProject
  readonly onClose: () => void
  readonly onStarted: (run: Run) => void
}) => {
  const stored = useServers().data ?? []
  const [chosen, setChosen] = useState("")
  const wanted = { projectPath: path, ...chosen === "" ? {} : { servers: [chosen] } }
  const { data: plan, error } = useCall(
    ["plan", path, "targets", chosen],
    (berth) => limitConcurrency(berth.planTargets({ payload: wanted }))
  )
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
      disabled={start.isPending || !isReady}
      stays
      onClose={onClose}
      onConfirm={() =>
        start.mutate((berth) => berth.deployTargets({ payload: { ...wanted, planHash: plan?.planHash ?? null } }))}
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
      <p className="quiet">
        {plan?.parallel === true
          ? `Up to ${targetsAtOnce} at once; none begins after a failure.`
          : "One after the other, until one fails or is not healthy."}{" "}
        Each is a run of its own. If anything has moved since these plans were made, nothing is changed.
      </p>
    </Confirm>
  )
}
