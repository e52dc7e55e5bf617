import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { forViewers } from "./annotations/access.ts"
import * as failures from "./annotations/failures.ts"
import { annotateFailures } from "./annotations/failures.ts"

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
