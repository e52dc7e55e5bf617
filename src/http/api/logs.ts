import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { defaultLogLines, mostLogLines } from "../../schema/logs.ts"
import { done, strictQuery, text } from "../../schema/validation.ts"
import * as failures from "./annotations.ts"
import { annotateFailures, forViewers } from "./annotations.ts"
import { ServerIdPath } from "./servers.ts"

/**
 * Query parameters that select lines of a log. The pipeline decodes them: an unknown server or project is reported before
 * an invalid query.
 */
const selectedLines = {
  lines: Schema.optional(
    Schema.String.annotations({
      jsonSchema: { type: "integer", minimum: 1, maximum: mostLogLines, default: defaultLogLines }
    })
  ).annotations({ description: "Number of last lines." }),
  since: Schema.optional(
    Schema.String.annotations({
      description: "No line from before it: a time, or how long ago.",
      examples: ["10m", "2026-01-02T03:04:05Z"]
    })
  ),
  until: Schema.optional(
    Schema.String.annotations({
      description: "No line from after it: a time, or how long ago.",
      examples: ["5m", "2026-01-02T04:00:00Z"]
    })
  ),
  service: Schema.optional(text("One service of the stack; all of them unless given.", "web")),
  contains: Schema.optional(
    text("Only lines that contain this text, in letters of either case; searched in the last 200,000 lines.", "timeout")
  )
}

const FollowQuery = Schema.Struct({
  containerName: Schema.optional(text("The name of the container.", "hello-web-1")),
  remotePath: Schema.optional(text("The directory of the compose stack on the server.", "~/containers/hello")),
  ...selectedLines
}).annotations(strictQuery)

const LogsQuery = Schema.Struct({
  ...FollowQuery.fields,
  timestamps: Schema.optional(
    Schema.String.annotations({ jsonSchema: { type: "boolean", default: false } })
  ).annotations({ description: "True when each line comes with its time." })
}).annotations(strictQuery)

const ProjectsQuery = Schema.Struct({
  project: Schema.Array(Schema.String).annotations({
    description: "The names of up to 10 projects under the projects root: one parameter each.",
    examples: [["hello", "shop"]]
  }),
  ...selectedLines
}).annotations(strictQuery)

/** Logs of stacks, containers and projects. */
export class LogsApi extends HttpApiGroup.make("logs", { topLevel: true })
  .add(
    HttpApiEndpoint.get("serverLogs", "/api/servers/:id/logs").annotateContext(forViewers)
      .annotateContext(
        annotateFailures(failures.server, [
          500,
          "Neither a container nor a stack is named, or its logs cannot be read."
        ])
      )
      .setPath(ServerIdPath)
      .setUrlParams(LogsQuery)
      .addSuccess(Schema.Struct({ success: done, logs: text("The lines, oldest first.") }))
      .annotate(OpenApi.Summary, "Show logs")
      .annotate(
        OpenApi.Description,
        "The last lines of the compose stack in remotePath, or else of the container, running or not; both streams."
      )
  )
  .add(
    HttpApiEndpoint.get("followLogs", "/api/servers/:id/logs/follow").annotateContext(forViewers)
      .annotateContext(
        annotateFailures(failures.server, [404, "There is no such container or stack."], failures.watched, [
          429,
          "As many logs of the server are followed as can be at a time."
        ], [500, "Neither a container nor a stack is named."])
      )
      .setPath(ServerIdPath)
      .setUrlParams(FollowQuery)
      .addSuccess(HttpApiSchema.Text({ contentType: "text/event-stream" }))
      .annotate(OpenApi.Summary, "Follow logs")
      .annotate(
        OpenApi.Description,
        "Server-sent events: a `line` {time, service, stream, text} for each of the last lines and every " +
          "further one of the stack in remotePath, or else of the container, running or not; `dropped` {lines} where " +
          "they came faster than they were read. Goes on until the caller leaves, or until `until` and then an " +
          "`end`; `error` {error} when the server cannot be heard any more."
      )
  )
  .add(
    HttpApiEndpoint.get("followProjectLogs", "/api/logs/follow").annotateContext(forViewers)
      .annotateContext(
        annotateFailures(
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
      .annotate(OpenApi.Summary, "Follow logs of projects")
      .annotate(
        OpenApi.Description,
        "Server-sent events: a `line` {project, service, time, stream, text} for each of the last lines of each project, " +
          "by their times, and for every further one; `dropped` {project, lines} where they came faster than they were " +
          "read; `unavailable` {project, error} for a project whose log cannot be followed while others can. Goes on " +
          "until the caller leaves, or until `until` and then an `end`."
      )
  )
  .annotate(OpenApi.Title, "Logs")
  .annotate(OpenApi.Description, "The logs of stacks and containers, and of several projects at once.")
{}
