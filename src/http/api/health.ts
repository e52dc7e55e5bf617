import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Health } from "../../schema/overview.ts"
import { strictQuery } from "../../schema/validation.ts"
import * as failures from "./annotations.ts"
import { annotateFailures, forAnyoneWithoutParameters, forViewers } from "./annotations.ts"

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

/** Metrics of Berth itself. */
export class MetricsApi extends HttpApiGroup.make("metrics", { topLevel: true })
  .add(
    HttpApiEndpoint.get("metrics", "/api/metrics").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.store))
      .addSuccess(HttpApiSchema.Text({ contentType: "text/plain; version=0.0.4; charset=utf-8" }))
      .annotate(OpenApi.Summary, "Metrics")
      .annotate(
        OpenApi.Description,
        "Runs by kind and end, durations of steps, bytes that deploys sent and saved, open SSH connections, runs that " +
          "wait and run, and the delay of the event loop, in Prometheus' text format."
      )
  )
  .annotate(OpenApi.Title, "Metrics")
  .annotate(OpenApi.Description, "Numbers about Berth itself.")
{}
