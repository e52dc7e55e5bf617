import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Health } from "../../schema/Health.ts"
import { strictQuery } from "../../schema/words/strict.ts"
import { forAnyoneWithoutParameters } from "./annotations/access.ts"
import { annotateFailures } from "./annotations/failures.ts"

/** The service's own endpoints. */
export class HealthApi extends HttpApiGroup.make("health", { topLevel: true })
  .add(
    HttpApiEndpoint.get("health", "/api/health").annotateContext(forAnyoneWithoutParameters)
      .annotateContext(annotateFailures())
      .setUrlParams(
        Schema.Struct({
          deep: Schema.optional(Schema.Literal("true", "false")).annotations({
            description: "true: look at the settings, the platform, the git host, the proxy file and each server too."
          })
        }).annotations(strictQuery)
      )
      .addSuccess(Health)
      .annotate(OpenApi.Summary, "Health")
      .annotate(
        OpenApi.Description,
        "Says that the service runs, its version, and for how many seconds it has; when asked, what a person " +
          "should mend of what it depends on."
      )
  )
  .annotate(OpenApi.Title, "Health")
  .annotate(OpenApi.Description, "State of the service.")
{}
