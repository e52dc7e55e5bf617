import { HttpApiBuilder } from "@effect/platform"
import { planContainers } from "../../pipelines/deploy/containerPlan.ts"
import { deploy } from "../../pipelines/deploy/deploy.ts"
import { planRollback } from "../../pipelines/releases/planRollback.ts"
import { rollback } from "../../pipelines/releases/rollback.ts"
import { deployTargets } from "../../pipelines/targets/deployTargets.ts"
import { planTargets } from "../../pipelines/targets/planTargets.ts"
import { orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"

export const DeployHandlers = HttpApiBuilder.group(BerthApi, "deploy", (handlers) =>
  handlers
    .handle("deploy", ({ payload }) => orApiError(deploy(payload)))
    .handle("containerPlan", ({ payload }) => orApiError(planContainers(payload)))
    .handle("deployTargets", ({ payload }) => orApiError(deployTargets(payload)))
    .handle("planTargets", ({ payload }) => orApiError(planTargets(payload)))
    .handle("planRollback", ({ payload }) => orApiError(planRollback(payload)))
    .handle("rollback", ({ payload }) => orApiError(rollback(payload))))
