import type { Release } from "../../../schema/deploy/Release.ts"
import type { LocalProject } from "../../../schema/projects/Project.ts"
import type { Run } from "../../../schema/runs/Run.ts"
import { useCall } from "../../service/queries.ts"
import { useStartRun } from "../../service/startRun.ts"
import { Confirm } from "../../ui/Confirm.tsx"
import { Failure, Waiting, Warnings } from "../../ui/Notes.tsx"
import { ChangedFileRow } from "../plan/ChangedFileRow.tsx"
import { changeWords } from "../plan/changeWords.ts"
import { PlannedServiceRow } from "../plan/PlannedServiceRow.tsx"
import { shortenImageId } from "./shortenImageId.ts"

interface Difference {
  readonly name: string
  readonly change: "new" | "changed" | "removed" | "same"
  readonly detail: string
}

/** Differences between the images of two releases, compared by id. */
const imageDifferences = (from: Release | undefined, to: Release): ReadonlyArray<Difference> => {
  const before = new Map(from?.images.map(({ id, name }) => [name, id]))
  const after = new Map(to.images.map(({ id, name }) => [name, id]))
  return [...new Set([...before.keys(), ...after.keys()])].map((name): Difference => {
    const [old, now] = [before.get(name), after.get(name)]
    if (now === undefined) return { name, change: "removed", detail: "" }
    if (old === undefined) return { name, change: "new", detail: shortenImageId(now) }
    return old === now
      ? { name, change: "same", detail: shortenImageId(now) }
      : { name, change: "changed", detail: `${shortenImageId(old)} → ${shortenImageId(now)}` }
  })
}

const Line = ({ difference: { change, detail, name } }: { readonly difference: Difference }) => {
  const [tone, sign, words] = changeWords[change]
  return (
    <li>
      <span className={`sign ${tone}`} aria-hidden="true">{sign}</span>
      <span>
        image <code>{name}</code> {words} {detail}
      </span>
    </li>
  )
}

/** Fetches a new rollback plan: the server may have changed since the dialog was last open. */
const useRollbackPlan = (
  payload: { readonly serverId: string; readonly remotePath: string; readonly release: string }
) =>
  useCall(
    ["rollback", payload.serverId, payload.remotePath, payload.release],
    (berth) => berth.planRollback({ payload }),
    { staleTime: 0 }
  )

/** Files and services that a rollback changes, and how each service gets its container. */
const RollbackChanges = ({ plan: { data, error } }: { readonly plan: ReturnType<typeof useRollbackPlan> }) => {
  if (data === undefined) return error === null ? <Waiting what="the plan" /> : <Failure error={error} />
  return (
    <>
      <Failure error={error} />
      <Warnings texts={[...data.obstacles, ...data.warnings]} />
      {data.files.filter(({ change }) => change !== "same").map((file) => (
        <ChangedFileRow key={`file ${file.name}`} file={file} />
      ))}
      {data.services.filter(({ change }) => change !== "keep").map((service) => (
        <PlannedServiceRow key={`service ${service.name}`} service={service} />
      ))}
    </>
  )
}

/** Shows the difference between the current and an earlier release, and rolls back. */
export const RollbackDialog = ({ current, onClose, onStarted, project, release, serverId }: {
  readonly project: LocalProject
  readonly serverId: string
  readonly release: Release
  readonly current: Release | undefined
  readonly onClose: () => void
  readonly onStarted: (run: Run) => void
}) => {
  const { error, isPending, mutate } = useStartRun(onStarted)
  const payload = { serverId, remotePath: project.remotePath, release: release.id }
  const plan = useRollbackPlan(payload)
  // A cached plan of an earlier opening may be outdated.
  const isBlocked = plan.data === undefined || plan.error !== null || plan.isFetching || plan.data.obstacles.length > 0
  return (
    <Confirm
      title={`Roll ${project.name} back to release ${release.id}?`}
      action={`Run release ${release.id} again`}
      danger
      wide
      disabled={isPending || isBlocked}
      stays
      onClose={onClose}
      onConfirm={() => mutate((berth) => berth.rollback({ payload }))}
    >
      <Failure error={error} />
      {current === undefined ? null : <p>Release {current.id} runs now. With release {release.id}:</p>}
      <ul className="what">
        {imageDifferences(current, release).map((difference) => <Line key={difference.name} difference={difference} />)}
      </ul>
      <div className="rollback-changes">
        <RollbackChanges plan={plan} />
      </div>
      <p className="quiet">
        Nothing is sent: the server has it all. The files here stay as they are. What runs then is a new release, and a
        step that fails is undone.
      </p>
    </Confirm>
  )
}
