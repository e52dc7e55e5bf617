import { type ContainerPlan, countChanges, describeHook, filterChangedParts } from "../../schema/deploys.ts"
import { withEnvironment } from "../../schema/environments.ts"
import type { LocalProject } from "../../schema/projects.ts"
import type { Run } from "../../schema/runs.ts"
import type { Server } from "../../schema/servers.ts"
import { formatBytes } from "../../schema/words.ts"
import { formatCount, useServers, useStartRun } from "../service.ts"
import { Button, Failure, lazyComponent, Waiting } from "../ui/components.tsx"
import { Confirm, Dialog, useProtection } from "../ui/dialogs.tsx"
import { changeWords } from "./plan/rows.tsx"
import { useBindingPlan } from "./state.ts"

// Loaded on first use: users open a project mostly for its first tab.
export const Applications = lazyComponent(
  "The applications",
  () => import("./Applications.tsx").then((part) => part.Applications)
)
export const Data = lazyComponent("The backups", () => import("./Data.tsx").then((part) => part.Data))
const DeployTargets = lazyComponent(
  "The plans",
  () => import("./plan/PlanPanel.tsx").then((part) => part.DeployTargets)
)
export const PlanPanel = lazyComponent("The plan", () => import("./plan/PlanPanel.tsx").then((part) => part.PlanPanel))
export const TimeLine = lazyComponent(
  "The runs and releases",
  () => import("./releases/TimeLine.tsx").then((part) => part.TimeLine)
)
export const VariablesPart = lazyComponent(
  "The variables",
  () => import("./VariablesPart.tsx").then((part) => part.VariablesPart)
)

const mostNamed = 8

/** Summarizes the plan of a deploy and asks to confirm it. */
const ConfirmDeploy = ({ busy, onClose, onConfirm, plan, project, server }: {
  readonly project: LocalProject
  readonly server: Server | undefined
  readonly plan: ContainerPlan
  readonly busy: boolean
  readonly onConfirm: (confirmation: { readonly confirm?: string }) => void
  readonly onClose: () => void
}) => {
  const { confirmation, field, isConfirmed } = useProtection(plan.protected === true ? plan.environment : undefined)
  const { files, images } = filterChangedParts(plan)
  const lines = [
    ...files.map(({ change, name }) => ({ change, name, kind: "" })),
    ...images.map(({ change, name }) => ({ change, name, kind: "image " })),
    ...plan.services.filter(({ change }) => change !== "keep").map(({ change, name }) => ({
      change,
      name,
      kind: "service "
    }))
  ]
  const count = countChanges(plan)
  return (
    <Confirm
      title={`Deploy ${project.name} to ${plan.environment ?? server?.name ?? "its server"}?`}
      action={count === 0 ? "Deploy again" : `Deploy ${formatCount(count, "change")}`}
      disabled={busy || plan.obstacles.length > 0 || !isConfirmed}
      stays
      onClose={onClose}
      onConfirm={() => onConfirm(confirmation)}
    >
      {plan.obstacles.map((obstacle) => <Failure key={obstacle} error={new Error(obstacle)} />)}
      <ul className="what">
        {lines.slice(0, mostNamed).map(({ change, kind, name }) => {
          const [tone, sign, words] = changeWords[change]
          return (
            <li key={`${kind}${name}`}>
              <span className={`sign ${tone}`} aria-hidden="true">{sign}</span>
              <span>
                {kind}
                <code>{name}</code> {words}
              </span>
            </li>
          )
        })}
        {lines.length > mostNamed ? <li>and {lines.length - mostNamed} more</li> : null}
        {(plan.hooks ?? []).map((hook, index) => (
          // A hook may contain the same command twice, so the index is the key.
          <li key={`hook ${index}`}>
            <span className="sign" aria-hidden="true">▸</span>
            <span>
              runs <code>{describeHook(hook)}</code>
            </span>
          </li>
        ))}
        {lines.length === 0 ? <li>Nothing differs: the same stack is started again.</li> : null}
      </ul>
      {field}
      <p className="quiet">
        In <code>{project.remotePath}</code>
        {server === undefined ? "" : ` on ${server.username}@${server.host}`}, sending {formatBytes(plan.bytesToSend)}
        {" "}
        of{" "}
        {formatBytes(plan.bytesTotal)}. Berth waits until the stack is healthy, and undoes a step that fails. If
        anything has moved since this plan was made, nothing is changed.
      </p>
    </Confirm>
  )
}

interface DeployProps {
  readonly project: LocalProject
  readonly onClose: () => void
  readonly onStarted: (run: Run) => void
}

const DeployToServer = ({ onClose, onStarted, project }: DeployProps) => {
  const { data: plan, error, refetch } = useBindingPlan(project)
  const server = useServers().data?.find(({ id }) => id === project.serverId)
  const start = useStartRun((run) => {
    onClose()
    onStarted(run)
  })
  const again = () => {
    start.reset()
    return refetch()
  }
  if (plan === undefined || start.error !== null) {
    const failure = start.error ?? error
    return (
      <Dialog label={`Deploy ${project.name}`} onClose={onClose}>
        <div className="dialog-body">
          <h2>Deploy {project.name}</h2>
          {failure === null ? <Waiting what="the plan" /> : <Failure error={failure} again={again} />}
        </div>
        <div className="dialog-foot">
          <Button onClick={onClose}>Leave it</Button>
        </div>
      </Dialog>
    )
  }
  return (
    <ConfirmDeploy
      project={project}
      server={server}
      plan={plan}
      busy={start.isPending}
      onClose={onClose}
      onConfirm={(confirmation) =>
        start.mutate((berth) =>
          berth.deploy({
            payload: {
              projectPath: project.path,
              ...withEnvironment(project),
              ...confirmation,
              serverId: project.serverId ?? "",
              remotePath: project.remotePath,
              planHash: plan.planHash
            }
          })
        )}
    />
  )
}

/** Plans a deploy to one server or to each target of the project, asks for confirmation, and starts it. */
export const DeployDialog = (props: DeployProps) =>
  props.project.targets === undefined ? <DeployToServer {...props} /> : <DeployTargets {...props} />
