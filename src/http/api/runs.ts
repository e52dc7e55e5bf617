import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Run, RunsPage, RunsQuery } from "../../schema/runs.ts"
import { text } from "../../schema/validation.ts"
import * as failures from "./annotations.ts"
import { annotateFailures, forOperators, forViewers } from "./annotations.ts"

const RunIdPath = Schema.Struct({ id: text("The id of the run.") })

/** Runs: history and those in progress. */
export class RunsApi extends HttpApiGroup.make("runs", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listRuns", "/api/runs").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.store, failures.sameNames))
      .setUrlParams(RunsQuery)
      .addSuccess(RunsPage)
      .annotate(OpenApi.Summary, "List runs")
      .annotate(
        OpenApi.Description,
        "Deploys, builds, pulls, upserts and commands in containers, ended and under way, newest first."
      )
  )
  .add(
    HttpApiEndpoint.get("getRun", "/api/runs/:id").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.oneRun))
      .setPath(RunIdPath)
      .addSuccess(Run)
      .annotate(OpenApi.Summary, "Show a run")
      .annotate(
        OpenApi.Description,
        "One run with its steps, its progress, and its result or its error; as a report with `Accept: text/markdown`."
      )
  )
  .add(
    HttpApiEndpoint.get("watchRun", "/api/runs/:id/events").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.oneRun, failures.watched))
      .setPath(RunIdPath)
      .setHeaders(Schema.Struct({
        "last-event-id": Schema.optional(Schema.String).annotations({
          description: "The id of the last event that was received: the events after it follow."
        })
      }))
      .addSuccess(HttpApiSchema.Text({ contentType: "text/event-stream" }))
      .annotate(OpenApi.Summary, "Watch a run")
      .annotate(
        OpenApi.Description,
        "Server-sent events: `run` with the whole run, at once and after each change of its state or " +
          "steps; `progress` with the bytes of a step; `output` of the programs that it runs; `dropped` {lines} where " +
          "it came faster than it was read; `end`, and the stream closes."
      )
  )
  .add(
    HttpApiEndpoint.post("cancelRun", "/api/runs/:id/cancel").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.noBody, failures.oneRun, [409, "The run has ended already."]))
      .setPath(RunIdPath)
      .addSuccess(Run)
      .annotate(OpenApi.Summary, "Cancel a run")
      .annotate(
        OpenApi.Description,
        "One that waits never begins; one under way stops at the next safe point. A deploy or rollback is undone: " +
          "from its start on, the release that ran before is started again. What a server was told to do to a stack " +
          "comes to its end. One that has ended is answered with 409."
      )
  )
  .annotate(OpenApi.Title, "Runs")
  .annotate(OpenApi.Description, "The long programs: those under way and those that have ended.")
{}
