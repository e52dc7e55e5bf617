import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { text } from "../../schema/described.ts"
import { Run, RunsPage, RunsQuery } from "../../schema/Run.ts"
import { forOperators, forViewers } from "./access.ts"

const RunIdPath = Schema.Struct({ id: text("The id of the run.") })

/** The history of the long programs, and those under way. */
export class RunsApi extends HttpApiGroup.make("runs", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listRuns", "/api/runs").annotateContext(forViewers)
      .setUrlParams(RunsQuery)
      .addSuccess(RunsPage)
      .annotateContext(
        OpenApi.annotations({
          summary: "List runs",
          description: "What was deployed, built, pulled and upserted, and what is under way, newest first."
        })
      )
  )
  .add(
    HttpApiEndpoint.get("getRun", "/api/runs/:id").annotateContext(forViewers)
      .setPath(RunIdPath)
      .addSuccess(Run)
      .annotateContext(
        OpenApi.annotations({
          summary: "Show a run",
          description: "One run with its steps, its progress, and its result or its error."
        })
      )
  )
  .add(
    HttpApiEndpoint.get("watchRun", "/api/runs/:id/events").annotateContext(forViewers)
      .setPath(RunIdPath)
      .setHeaders(Schema.Struct({
        "last-event-id": Schema.optional(Schema.String).annotations({
          description: "The id of the last event that was received: the events after it follow."
        })
      }))
      .addSuccess(HttpApiSchema.Text({ contentType: "text/event-stream" }))
      .annotateContext(
        OpenApi.annotations({
          summary: "Watch a run",
          description: "Server-sent events: `run` with the whole run, at once and after each change of its state or " +
            "steps; `progress` with the bytes of a step; `output` of the programs that it runs; `dropped` {lines} where " +
            "it came faster than it was read; `end`, and the stream closes."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("cancelRun", "/api/runs/:id/cancel").annotateContext(forOperators)
      .setPath(RunIdPath)
      .addSuccess(Run)
      .annotateContext(
        OpenApi.annotations({
          summary: "Cancel a run",
          description:
            "One that waits never begins; one under way stops at the next safe point. A deploy or rollback is undone: " +
            "from its start on, the release that ran before is started again. What a server was told to do to a stack " +
            "comes to its end. One that has ended is answered with 409."
        })
      )
  )
  .annotate(OpenApi.Title, "Runs")
  .annotate(OpenApi.Description, "The long programs: those under way and those that have ended.")
{}
