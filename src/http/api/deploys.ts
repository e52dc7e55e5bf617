import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import {
  ContainerPlan,
  ContainerPlanRequest,
  DeployRequest,
  DeployResult,
  RollbackRequest
} from "../../schema/deploys.ts"
import { RollbackPlan } from "../../schema/releases.ts"
import { TargetsDeployRequest, TargetsPlan, TargetsPlanRequest, TargetsResult } from "../../schema/targets.ts"
import * as failures from "./annotations.ts"
import { annotateFailures, forOperators, forViewers, startsRun } from "./annotations.ts"

const noSuchTarget: failures.Reason = [
  422,
  "The project names no server, or the request one that is not among its targets."
]

/** Deploys of a project's stack to a server. */
export class DeployApi extends HttpApiGroup.make("deploy", { topLevel: true })
  .add(
    HttpApiEndpoint.post("deploy", "/api/container/deploy").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.body, failures.project, failures.server, failures.run, [
          500,
          "A step failed; the earlier release runs on, or again."
        ], failures.planMoved)
      )
      .annotateContext(startsRun)
      .setPayload(DeployRequest)
      .addSuccess(DeployResult)
      .annotate(OpenApi.Summary, "Deploy a project")
      .annotate(
        OpenApi.Description,
        "Sends what the server lacks of the image archive, the compose file and the env files, loads the image, " +
          "starts the stack and waits until it is healthy; a step that fails is undone."
      )
  )
  .add(
    HttpApiEndpoint.post("containerPlan", "/api/container/plan").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.body, failures.project, failures.server))
      .setPayload(ContainerPlanRequest)
      .addSuccess(ContainerPlan)
      .annotate(OpenApi.Summary, "Plan a deploy")
      .annotate(
        OpenApi.Description,
        "Plans a deploy: files to send, containers to start and remove, obstacles. Changes nothing anywhere. Sent " +
          "with a deploy, the planHash holds it to that. `Accept: text/markdown` answers a report."
      )
  )
  .add(
    HttpApiEndpoint.post("deployTargets", "/api/container/deploy/targets").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.body, failures.project, failures.server, failures.run, [
          409,
          "A plan no longer holds; no server was changed."
        ], noSuchTarget)
      )
      .annotateContext(startsRun)
      .setPayload(TargetsDeployRequest)
      .addSuccess(TargetsResult)
      .annotate(OpenApi.Summary, "Deploy a project to its targets")
      .annotate(
        OpenApi.Description,
        "Deploys a project to the targets of its container.json, each as a run of its own: in turn until one of them fails, " +
          "or several at once. The answer tells which server runs what."
      )
  )
  .add(
    HttpApiEndpoint.post("planTargets", "/api/container/deploy/targets/plan").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.body, failures.project, failures.server, noSuchTarget))
      .setPayload(TargetsPlanRequest)
      .addSuccess(TargetsPlan)
      .annotate(OpenApi.Summary, "Plan a deploy to the targets")
      .annotate(
        OpenApi.Description,
        "Plans a deploy of a project to each of its targets; changes nothing anywhere. `Accept: text/markdown` answers a report."
      )
  )
  .add(
    HttpApiEndpoint.post("rollback", "/api/container/rollback").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.body, failures.server, failures.run, failures.unknownRelease, [
          409,
          "The server no longer has all images of the release; nothing was changed."
        ], [500, "A step failed; the earlier release runs on, or again."])
      )
      .annotateContext(startsRun)
      .setPayload(RollbackRequest)
      .addSuccess(DeployResult)
      .annotate(OpenApi.Summary, "Roll a stack back")
      .annotate(
        OpenApi.Description,
        "Has the server run a release that it keeps, by default the one before the current one, and waits until it is " +
          "healthy. Nothing is sent and no project is needed. What runs then is a new release; a step that fails is undone."
      )
  )
  .add(
    HttpApiEndpoint.post("planRollback", "/api/container/rollback/plan").annotateContext(forViewers)
      .annotateContext(
        annotateFailures(failures.body, failures.server, failures.unknownRelease, [
          409,
          "The server no longer has all images of the release."
        ])
      )
      .setPayload(RollbackRequest)
      .addSuccess(RollbackPlan)
      .annotate(OpenApi.Summary, "Plan a rollback")
      .annotate(
        OpenApi.Description,
        "Plans a rollback: what it would replace, start and remove now, and how its services get their containers; changes " +
          "nothing anywhere. `Accept: text/markdown` answers a report."
      )
  )
  .annotate(OpenApi.Title, "Deploy")
  .annotate(OpenApi.Description, "Bringing a project to a server.")
{}
