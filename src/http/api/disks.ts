import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { DiskUse, PruneOptions, PrunePlan, PruneRequest, PruneResult } from "../../schema/disks.ts"
import * as failures from "./annotations.ts"
import { annotateFailures, forOperators, forViewers, startsRun } from "./annotations.ts"
import { ServerIdPath } from "./servers.ts"

/** Space on servers. */
export class DisksApi extends HttpApiGroup.make("disks", { topLevel: true })
  .add(
    HttpApiEndpoint.get("serverDisk", "/api/servers/:id/disk").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.server))
      .setPath(ServerIdPath)
      .addSuccess(DiskUse)
      .annotate(OpenApi.Summary, "Show what takes space on a server")
      .annotate(
        OpenApi.Description,
        "Disks with their inodes, images with their owners, the build cache, logs with their limits, volumes and releases. " +
          "Docker measures volumes for up to a minute; sizes of logs need root on the server."
      )
  )
  .add(
    HttpApiEndpoint.post("planPrune", "/api/servers/:id/prune/plan").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.body, failures.server))
      .setPath(ServerIdPath)
      .setPayload(PruneOptions)
      .addSuccess(PrunePlan)
      .annotate(OpenApi.Summary, "Plan a clean-up of a server")
      .annotate(
        OpenApi.Description,
        "Names each image, record of the build cache and volume that would be removed, and what stays and why. By default " +
          "only images that Berth brought and no release and no container needs; a volume only by its name."
      )
  )
  .add(
    HttpApiEndpoint.post("prune", "/api/servers/:id/prune").annotateContext(forOperators)
      .annotateContext(startsRun)
      .annotateContext(
        annotateFailures(failures.body, failures.server, failures.run, failures.planMoved, [
          409,
          "A deploy is under way on the server."
        ])
      )
      .setPath(ServerIdPath)
      .setPayload(PruneRequest)
      .addSuccess(PruneResult)
      .annotate(OpenApi.Summary, "Clean up a server")
      .annotate(
        OpenApi.Description,
        "Removes what a plan with the same options names. Each is looked at again on the server, while no deploy there goes " +
          "on: what is in use by then is in `skipped`."
      )
  )
  .annotate(OpenApi.Title, "Disks")
  .annotate(OpenApi.Description, "What takes space on servers, and cleaning it up.")
{}
