import { useMutation, useQueryClient } from "@tanstack/react-query"
import type { ReactNode } from "react"
import type { Call } from "../../client/index.ts"
import type { ContainerPlan } from "../../schema/deploy/ContainerPlan.ts"
import { countChanges } from "../../schema/deploy/plannedChanges.ts"
import type { Overview } from "../../schema/Overview.ts"
import type { LocalProject } from "../../schema/projects/Project.ts"
import { planKey, usePlan } from "../projects/usePlan.ts"
import { startRun } from "../service/berth.ts"
import { Confirm } from "../ui/Confirm.tsx"
import { Failure } from "../ui/Notes.tsx"
import { formatCount } from "../ui/words.ts"

export type BulkKind = "deploy" | "restart"

const Line = ({ children, name, tone }: {
  readonly name: string
  readonly tone: string
  readonly children: ReactNode
}) => (
  <li>
    <span className="strong">{name}</span>
    <span className={tone}>{children}</span>
  </li>
)

const Planned = ({ project }: { readonly project: LocalProject }) => {
  const { data, error } = usePlan(project)
  const blocked = error?.message ?? data?.obstacles[0]
  if (blocked !== undefined) return <Line name={project.name} tone="bad">is left out: {blocked}</Line>
  if (data === undefined) return <Line name={project.name} tone="quiet">is being planned …</Line>
  const count = countChanges(data)
  return (
    <Line name={project.name} tone="quiet">
      {count === 0 ? "nothing differs: the same stack is started again" : formatCount(count, "change")}
    </Line>
  )
}

/** Asks to deploy or restart several projects; those that cannot be are named and left out. */
export const BulkDialog = ({ kind, onClose, onDone, overview, projects }: {
  readonly kind: BulkKind
  readonly projects: ReadonlyArray<LocalProject>
  readonly overview: Overview | undefined
  readonly onClose: () => void
  readonly onDone: () => void
}) => {
  const queries = useQueryClient()
  const isUp = ({ path }: LocalProject) =>
    (overview?.projects.find((project) => project.path === path)?.servers[0]?.containers?.up ?? 0) > 0
  const callOf = (project: LocalProject): ReadonlyArray<Call<unknown>> => {
    const { path, remotePath, serverId } = project
    if (serverId === null) return []
    if (kind === "restart") {
      return isUp(project) ? [(berth) => berth.restartStack({ payload: { serverId, remotePath } })] : []
    }
    const plan = queries.getQueryData<ContainerPlan>(planKey(project))
    return plan === undefined || plan.obstacles.length > 0 ? [] : [(berth) =>
      berth.deploy({
        payload: { projectPath: path, serverId, remotePath, planHash: plan.planHash }
      })]
  }
  const { error, isPending, mutate } = useMutation({
    mutationFn: async () => {
      const started = await Promise.allSettled(projects.flatMap(callOf).map((call) => startRun(call)))
      void queries.invalidateQueries({ queryKey: ["runs"] })
      void queries.invalidateQueries({ queryKey: ["overview"] })
      const failed = started.flatMap((each) => each.status === "rejected" ? [String(each.reason.message)] : [])
      if (failed.length > 0) throw new Error(`${failed.length} of ${started.length} were not started: ${failed[0]}`)
    },
    onSuccess: onDone
  })
  const verb = kind === "deploy" ? "Deploy" : "Restart"
  return (
    <Confirm
      title={`${verb} ${formatCount(projects.length, "project")}?`}
      action={isPending ? "Starting …" : `${verb} them`}
      disabled={isPending}
      stays
      onClose={onClose}
      onConfirm={mutate}
    >
      {error === null ? null : <Failure error={error} />}
      <ul className="what">
        {projects.map((project) =>
          kind === "deploy"
            ? <Planned key={project.path} project={project} />
            : (
              <Line key={project.path} name={project.name} tone="quiet">
                {isUp(project) ? "is restarted" : "is left out: it does not run"}
              </Line>
            )
        )}
      </ul>
      <p className="quiet">Each is a run of its own, which goes on when you leave this page and can be cancelled.</p>
    </Confirm>
  )
}
