import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { StackRemoval, StackRequest, StackResult } from "../../schema/stacks.ts"
import * as failures from "./annotations.ts"
import { annotateFailures, forOperators, startsRun } from "./annotations.ts"

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
  .annotate(OpenApi.Title, "Stacks")
  .annotate(OpenApi.Description, "Actions on stacks that are on a server.")
{}
