import { DeployPlanMoved } from "../../schema/deploy/ContainerPlan.ts"
import { DeployFailed, DeployLocked } from "../../schema/deploy/Deploy.ts"
import { ProjectFileInvalid } from "../../schema/projects/Project.ts"
import { makeStageExecutor } from "../../services/runs/Steps.ts"
import { LoadFailed } from "../activation/activate.ts"
import { describeStateWithin } from "../activation/failureState.ts"
import { BridgeRefused } from "../bridge/BridgeRefused.ts"

/** Runs a step whose failure fails the deploy: `Deploy failed at <step>: …`. */
export const stage = makeStageExecutor((name, error) => {
  if (error instanceof DeployFailed || error instanceof DeployLocked || error instanceof DeployPlanMoved) return error
  if (error instanceof BridgeRefused) return error
  const status = error instanceof ProjectFileInvalid ? error.status : 500
  const state = error instanceof LoadFailed ? error.state : describeStateWithin(name)
  return new DeployFailed({ step: name, reason: error.message, state, status })
})
