import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Container, DeployedProject } from "../../schema/Container.ts"
import { Server, ServerInput } from "../../schema/Server.ts"
import { strictQuery } from "../../schema/strict.ts"

/** The `{id}` of a stored server. */
export const ServerIdPath = Schema.Struct({ id: Schema.String })

const Success = Schema.Struct({ success: Schema.Literal(true) })

// An unknown server is told before a query that does not fit, so the pipeline judges the query's texts.
const LogsQuery = Schema.Struct({
  containerName: Schema.optional(Schema.String),
  remotePath: Schema.optional(Schema.String),
  lines: Schema.optional(
    Schema.String.annotations({ jsonSchema: { type: "integer", minimum: 1, maximum: 10_000, default: 100 } })
  )
}).annotations(strictQuery)

/** The stored deployment servers. */
export class ServersApi extends HttpApiGroup.make("servers", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listServers", "/api/servers")
      .addSuccess(Schema.Array(Server))
      .annotateContext(
        OpenApi.annotations({ summary: "List servers", description: "The stored servers, without their credentials." })
      )
  )
  .add(
    HttpApiEndpoint.post("saveServer", "/api/servers")
      .setPayload(ServerInput)
      .addSuccess(Schema.Struct({ ...Success.fields, server: Server }))
      .annotateContext(
        OpenApi.annotations({
          summary: "Add or replace a server",
          description: "Replaces the stored server with the same id, or adds this one under a new id."
        })
      )
  )
  .add(
    HttpApiEndpoint.del("removeServer", "/api/servers/:id")
      .setPath(ServerIdPath)
      .addSuccess(Success)
      .annotateContext(
        OpenApi.annotations({
          summary: "Remove a server",
          description: "Forgets a stored server; nothing on the server itself changes."
        })
      )
  )
  .add(
    HttpApiEndpoint.get("scanServer", "/api/servers/:id/scan")
      .setPath(ServerIdPath)
      .addSuccess(Schema.Struct({ ...Success.fields, deployed: Schema.Array(DeployedProject) }))
      .annotateContext(
        OpenApi.annotations({
          summary: "Scan a server",
          description:
            "What is deployed under ~/containers on the server, with the first 256 KiB of each compose file; " +
            "a directory that is a link, or that cannot be read, is left out."
        })
      )
  )
  .add(
    HttpApiEndpoint.get("listContainers", "/api/servers/:id/containers")
      .setPath(ServerIdPath)
      .addSuccess(Schema.Struct({ ...Success.fields, containers: Schema.Array(Container) }))
      .annotateContext(
        OpenApi.annotations({ summary: "List containers", description: "The containers that run on the server." })
      )
  )
  .add(
    HttpApiEndpoint.get("serverLogs", "/api/servers/:id/logs")
      .setPath(ServerIdPath)
      .setUrlParams(LogsQuery)
      .addSuccess(Schema.Struct({ ...Success.fields, logs: Schema.String }))
      .annotateContext(
        OpenApi.annotations({
          summary: "Show logs",
          description: "The last lines of the compose stack in remotePath, or else of the container; both streams."
        })
      )
  )
  .annotate(OpenApi.Title, "Servers")
{}
