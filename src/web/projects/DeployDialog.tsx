import type { LocalProject } from "../../schema/projects/Project.ts"
import type { Run } from "../../schema/runs/Run.ts"
import { useServers } from "../service/queries.ts"
import { useStartRun } from "../service/startRun.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Failure, Waiting } from "../ui/Notes.tsx"
import { ConfirmDeploy } from "./ConfirmDeploy.tsx"
import { DeployTargets } from "./lazyParts.ts"
import { usePlan } from "./state/usePlan.ts"

interface DeployProps {
  readonly project: LocalProject
  readonly onClose: () => void
  readonly onStarted: (run: Run) => void
}

const DeployToServer = ({ onClose, onStarted, project }: DeployProps) => {
  const { data: plan, error, refetch } = usePlan(project)
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
      onConfirm={() =>
        start.mutate((berth) =>
          berth.deploy({
            payload: {
              projectPath: project.path,
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
