import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { ContainerPlan } from "../../schema/ContainerPlan.ts"
import { ContainerPlanRequest, DeployRequest, DeployResult, RollbackRequest } from "../../schema/Deploy.ts"
import { forOperators, forViewers } from "./access.ts"
import { startsRun } from "./startsRun.ts"

/** Bringing a project's stack to a server. */
export class DeployApi extends HttpApiGroup.make("deploy", { topLevel: true })
  .add(
    HttpApiEndpoint.post("deploy", "/api/container/deploy").annotateContext(forOperators)
      .annotateContext(startsRun)
      .setPayload(DeployRequest)
      .addSuccess(DeployResult)
      .annotateContext(
        OpenApi.annotations({
          summary: "Deploy a project",
          description:
            "Sends what the server lacks of the image archive, the compose file and the env files, loads the image, " +
            "starts the stack and waits until it is healthy; a step that fails is undone."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("containerPlan", "/api/container/plan").annotateContext(forViewers)
      .setPayload(ContainerPlanRequest)
      .addSuccess(ContainerPlan)
      .annotateContext(
        OpenApi.annotations({
          summary: "Plan a deploy",
          description:
            "What a deploy would send, start and remove now, and what it would stop at; changes nothing anywhere. Sent " +
            "with a deploy, the planHash holds it to that."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("rollback", "/api/container/rollback").annotateContext(forOperators)
      .annotateContext(startsRun)
      .setPayload(RollbackRequest)
      .addSuccess(DeployResult)
      .annotateContext(
        OpenApi.annotations({
          summary: "Roll a stack back",
          description:
            "Has the server run a release that it keeps, by default the one before the current one, and waits until it is " +
            "healthy. Nothing is sent and no project is needed. What runs then is a new release; a step that fails is undone."
        })
      )
  )
  .annotate(OpenApi.Title, "Deploy")
  .annotate(OpenApi.Description, "Bringing a project to a server.")
{}
