import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Overview } from "../../schema/Overview.ts"
import { forViewers } from "./annotations/access.ts"
import * as failures from "./annotations/failures.ts"
import { annotateFailures } from "./annotations/failures.ts"

/** Overview of projects, servers and applications. */
export class OverviewApi extends HttpApiGroup.make("overview", { topLevel: true })
  .add(
    HttpApiEndpoint.get("overview", "/api/overview").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.settings))
      .addSuccess(Overview)
      .annotate(OpenApi.Summary, "Overview")
      .annotate(
        OpenApi.Description,
        "Each project with its stacks, their releases and its run; each application with its status and how many " +
          "fields have drifted; each server with whether it answers. Answered within 5 seconds, whatever hangs: what " +
          "could not be observed has an `error`."
      )
  )
  .annotate(OpenApi.Title, "Overview")
  .annotate(OpenApi.Description, "Everything at one look.")
{}
