import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { strictQuery } from "../../schema/words/strict.ts"
import { forViewers } from "./annotations/access.ts"
import * as failures from "./annotations/failures.ts"
import { failsWith } from "./annotations/failures.ts"
import { selectedLines } from "./selectedLines.ts"

const ProjectsQuery = Schema.Struct({
  project: Schema.Array(Schema.String).annotations({
    description: "The names of up to 10 projects under the projects root: one parameter each.",
    examples: [["hello", "shop"]]
  }),
  ...selectedLines
}).annotations(strictQuery)

/** Logs of projects, wherever they run. */
export class LogsApi extends HttpApiGroup.make("logs", { topLevel: true })
  .add(
    HttpApiEndpoint.get("followProjectLogs", "/api/logs/follow").annotateContext(forViewers)
      .annotateContext(
        failsWith(
          failures.server,
          [404, "There is no such project, or its server has no such stack."],
          [422, "A project names no server."],
          failures.watched,
          [429, "As many logs of the server are followed as can be at a time."],
          [500, "The projects root or the logs cannot be read."]
        )
      )
      .setUrlParams(ProjectsQuery)
      .addSuccess(HttpApiSchema.Text({ contentType: "text/event-stream" }))
      .annotateContext(
        OpenApi.annotations({
          summary: "Follow logs of projects",
          description:
            "Server-sent events: a `line` {project, service, time, stream, text} for each of the last lines of each project, " +
            "by their times, and for every further one; `dropped` {project, lines} where they came faster than they were " +
            "read; `unavailable` {project, error} for a project whose log cannot be followed while others can. Goes on " +
            "until the caller leaves, or until `until` and then an `end`."
        })
      )
  )
  .annotate(OpenApi.Title, "Logs")
  .annotate(OpenApi.Description, "The logs of several projects at once.")
{}
