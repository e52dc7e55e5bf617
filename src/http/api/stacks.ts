import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { StackRemoval, StackRemovalPlan, StackRequest, StackResult } from "../../schema/stacks.ts"
import * as failures from "./annotations.ts"
import { annotateFailures, forOperators, forViewers, startsRun } from "./annotations.ts"

/** Actions on deployed stacks. */
export class StacksApi extends HttpApiGroup.make("stacks", { topLevel: true })
  .add(
    HttpApiEndpoint.post("stopStack", "/api/container/stop").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.stack))
      .annotateContext(startsRun)
      .setPayload(StackRequest)
      .addSuccess(StackResult)
      .annotate(OpenApi.Summary, "Stop a stack")
      .annotate(
        OpenApi.Description,
        "Stops the containers of the stack in remotePath and keeps them; a start runs them again."
      )
  )
  .add(
    HttpApiEndpoint.post("startStack", "/api/container/start").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.stack))
      .annotateContext(startsRun)
      .setPayload(StackRequest)
      .addSuccess(StackResult)
      .annotate(OpenApi.Summary, "Start a stack")
      .annotate(
        OpenApi.Description,
        "Starts the stack in remotePath as it was deployed, makes the containers that it lacks and waits until it is " +
          "healthy."
      )
  )
  .add(
    HttpApiEndpoint.post("restartStack", "/api/container/restart").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.stack))
      .annotateContext(startsRun)
      .setPayload(StackRequest)
      .addSuccess(StackResult)
      .annotate(OpenApi.Summary, "Restart a stack")
      .annotate(
        OpenApi.Description,
        "Restarts the containers of the stack in remotePath and waits until they are healthy."
      )
  )
  .add(
    HttpApiEndpoint.post("removeStack", "/api/container/remove").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.stack))
      .annotateContext(startsRun)
      .setPayload(StackRemoval)
      .addSuccess(StackResult)
      .annotate(OpenApi.Summary, "Remove a stack")
      .annotate(
        OpenApi.Description,
        "Removes the containers and networks of the stack in remotePath, then the files and images that Berth brought " +
          "there. What is in data/ and what Berth did not bring stay, and so do volumes unless `volumes` is true."
      )
  )
  .add(
    HttpApiEndpoint.post("planStackRemoval", "/api/container/remove/plan").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.body, failures.server, [
        404,
        "There is no stack in that directory."
      ]))
      .setPayload(StackRemoval)
      .addSuccess(StackRemovalPlan)
      .annotate(OpenApi.Summary, "Plan the removal of a stack")
      .annotate(
        OpenApi.Description,
        "Lists what a removal would remove now (releases, backups, containers, files, images and, with `volumes`, volumes), and " +
          "what stays in the directory and on the server, with the reason. Changes nothing anywhere."
      )
  )
  .annotate(OpenApi.Title, "Stacks")
  .annotate(OpenApi.Description, "Actions on stacks that are on a server.")
{}
