import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Container, DeployedProject } from "../../schema/Container.ts"
import { done, field, serverId, text } from "../../schema/described.ts"
import { Release } from "../../schema/Release.ts"
import { RemotePathText } from "../../schema/RemotePath.ts"
import { Server } from "../../schema/Server.ts"
import { ServerTest, ServerTestRequest } from "../../schema/ServerTest.ts"
import { ServerToStore } from "../../schema/ServerToStore.ts"
import { SshDefaults, SshDefaultsQuery } from "../../schema/SshDefaults.ts"
import { ContainerStats } from "../../schema/Stats.ts"
import { strictQuery } from "../../schema/strict.ts"
import { forOperators, forViewers } from "./access.ts"

/** The `{id}` of a stored server. */
export const ServerIdPath = Schema.Struct({ id: serverId })

const Success = Schema.Struct({ success: done })

// An unknown server is told before a query that does not fit, so the pipeline judges the query's texts.
const FollowQuery = Schema.Struct({
  containerName: Schema.optional(text("The name of the container.", "hello-web-1")),
  remotePath: Schema.optional(text("The directory of the compose stack on the server.", "~/containers/hello")),
  lines: Schema.optional(
    Schema.String.annotations({ jsonSchema: { type: "integer", minimum: 1, maximum: 10_000, default: 100 } })
  ).annotations({ description: "How many of the last lines." }),
  since: Schema.optional(
    Schema.String.annotations({
      description: "No line from before it: a time, or how long ago.",
      examples: ["10m", "2026-01-02T03:04:05Z"]
    })
  ),
  service: Schema.optional(text("One service of the stack; all of them unless given.", "web"))
}).annotations(strictQuery)

const LogsQuery = Schema.Struct({
  ...FollowQuery.fields,
  timestamps: Schema.optional(
    Schema.String.annotations({ jsonSchema: { type: "boolean", default: false } })
  ).annotations({ description: "Whether each line comes with its time." })
}).annotations(strictQuery)

const ReleasesQuery = Schema.Struct({
  remotePath: field(RemotePathText, "The directory of the stack on the server.")
}).annotations(strictQuery)

/** The stored deployment servers. */
export class ServersApi extends HttpApiGroup.make("servers", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listServers", "/api/servers").annotateContext(forViewers)
      .addSuccess(Schema.Array(Server))
      .annotateContext(
        OpenApi.annotations({ summary: "List servers", description: "The stored servers, without their credentials." })
      )
  )
  .add(
    HttpApiEndpoint.post("saveServer", "/api/servers").annotateContext(forOperators)
      .setPayload(ServerToStore)
      .addSuccess(Schema.Struct({ ...Success.fields, server: field(Server, "The server as it is stored now.") }))
      .annotateContext(
        OpenApi.annotations({
          summary: "Add or replace a server",
          description:
            "Replaces the stored server with the same id, or adds this one under a new id. With hostKey, the server has " +
            "to show that key when it is connected to for the first time. With newId, the new server gets that id, and with " +
            "uniqueName its name is refused where another one has it."
        })
      )
  )
  .add(
    HttpApiEndpoint.get("sshDefaults", "/api/servers/ssh-config").annotateContext(forOperators)
      .setUrlParams(SshDefaultsQuery)
      .addSuccess(SshDefaults)
      .annotateContext(
        OpenApi.annotations({
          summary: "Look a host up in the SSH configuration",
          description:
            "What ~/.ssh/config of the user that runs Berth says of a host or alias: host name, port, user and " +
            "key, with file and line. Nothing is connected to, and no program of the configuration is executed."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("testServer", "/api/servers/test").annotateContext(forOperators)
      .setPayload(ServerTestRequest)
      .addSuccess(ServerTest)
      .annotateContext(
        OpenApi.annotations({
          summary: "Test the connection to a server",
          description:
            "The host key of a server, stored or not, and whether the log-in, sudo and Docker work. Nothing is changed " +
            "and no key is remembered; a server whose key is new gets no credential until hostKey confirms its fingerprint."
        })
      )
  )
  .add(
    HttpApiEndpoint.del("removeServer", "/api/servers/:id").annotateContext(forOperators)
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
    HttpApiEndpoint.get("scanServer", "/api/servers/:id/scan").annotateContext(forViewers)
      .setPath(ServerIdPath)
      .addSuccess(
        Schema.Struct({
          ...Success.fields,
          deployed: Schema.Array(DeployedProject).annotations({ description: "The directories under ~/containers." })
        })
      )
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
    HttpApiEndpoint.get("listContainers", "/api/servers/:id/containers").annotateContext(forViewers)
      .setPath(ServerIdPath)
      .addSuccess(
        Schema.Struct({
          ...Success.fields,
          containers: Schema.Array(Container).annotations({ description: "The running containers." })
        })
      )
      .annotateContext(
        OpenApi.annotations({ summary: "List containers", description: "The containers that run on the server." })
      )
  )
  .add(
    HttpApiEndpoint.get("serverLogs", "/api/servers/:id/logs").annotateContext(forViewers)
      .setPath(ServerIdPath)
      .setUrlParams(LogsQuery)
      .addSuccess(Schema.Struct({ ...Success.fields, logs: text("The lines, oldest first.") }))
      .annotateContext(
        OpenApi.annotations({
          summary: "Show logs",
          description: "The last lines of the compose stack in remotePath, or else of the container; both streams."
        })
      )
  )
  .add(
    HttpApiEndpoint.get("followLogs", "/api/servers/:id/logs/follow").annotateContext(forViewers)
      .setPath(ServerIdPath)
      .setUrlParams(FollowQuery)
      .addSuccess(HttpApiSchema.Text({ contentType: "text/event-stream" }))
      .annotateContext(
        OpenApi.annotations({
          summary: "Follow logs",
          description:
            "Server-sent events: a `line` {time, service, stream, text} for each of the last lines and every " +
            "further one of the stack in remotePath, or else of the container; `dropped` {lines} where they came faster " +
            "than they were read. Goes on until the caller leaves; `error` {error} when the server cannot be heard any more."
        })
      )
  )
  .add(
    HttpApiEndpoint.get("serverStats", "/api/servers/:id/stats").annotateContext(forViewers)
      .setPath(ServerIdPath)
      .addSuccess(
        Schema.Struct({
          containers: Schema.Array(ContainerStats).annotations({ description: "The running containers." })
        })
      )
      .annotateContext(
        OpenApi.annotations({
          summary: "Show what containers use",
          description: "CPU, memory and network of each running container; Docker measures for a second or two."
        })
      )
  )
  .add(
    HttpApiEndpoint.get("listReleases", "/api/servers/:id/releases").annotateContext(forViewers)
      .setPath(ServerIdPath)
      .setUrlParams(ReleasesQuery)
      .addSuccess(
        Schema.Struct({
          releases: Schema.Array(Release).annotations({ description: "The releases, newest first." })
        })
      )
      .annotateContext(
        OpenApi.annotations({
          summary: "List releases",
          description:
            "What deploys and rollbacks left in remotePath, as many as deploy.keepReleases says: each can be gone back " +
            "to as long as its images are there. A directory without any has an empty list."
        })
      )
  )
  .annotate(OpenApi.Title, "Servers")
  .annotate(OpenApi.Description, "The stored servers: what is deployed and runs on them, their logs and their usage.")
{}
