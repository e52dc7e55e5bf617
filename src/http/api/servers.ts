import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Release, ReleaseComparison } from "../../schema/releases.ts"
import { Server, ServerReplacement, ServerTest, ServerTestRequest, ServerToStore } from "../../schema/servers.ts"
import { SettingsChanged, SettingsChangeQuery } from "../../schema/settingsList.ts"
import { SshDefaults, SshDefaultsQuery } from "../../schema/ssh.ts"
import { Container, DeployedProject, ServerStack } from "../../schema/stacks.ts"
import { ContainerStats, StatsHistory, StatsHistoryQuery } from "../../schema/usage.ts"
import { done, field, RemotePathText, serverId, strictQuery, text } from "../../schema/validation.ts"
import * as failures from "./annotations.ts"
import { annotateFailures, forOperators, forViewers } from "./annotations.ts"

/** The `{id}` of a stored server. */
export const ServerIdPath = Schema.Struct({ id: serverId })

const Success = Schema.Struct({ success: done })

const StoredServerAnswer = Schema.Struct({
  ...Success.fields,
  server: field(Server, "The server as it is stored now; with plan=true as it would be."),
  change: Schema.optionalWith(SettingsChanged, { exact: true }).annotations({
    description: "The change of the settings file; only with plan=true, which writes nothing."
  })
})

const ContainersQuery = Schema.Struct({
  all: Schema.optional(Schema.Literal("true", "false")).annotations({
    description: "true: list the containers that do not run too."
  })
}).annotations(strictQuery)

/** Stack whose releases or backups are listed. */
export const ReleasesQuery = Schema.Struct({
  remotePath: field(RemotePathText, "The directory of the stack on the server.")
}).annotations(strictQuery)

const ReleaseComparisonQuery = Schema.Struct({
  ...ReleasesQuery.fields,
  from: text("The id of a release.", "12"),
  to: Schema.optional(Schema.String).annotations({
    description: "The id of the release to compare it with; by default the current one."
  })
}).annotations(strictQuery)

/** The stored deployment servers. */
export class ServersApi extends HttpApiGroup.make("servers", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listServers", "/api/servers").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.settings))
      .addSuccess(Schema.Array(Server))
      .annotate(OpenApi.Summary, "List servers")
      .annotate(OpenApi.Description, "The stored servers, without their credentials.")
  )
  .add(
    HttpApiEndpoint.post("saveServer", "/api/servers").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.body, failures.busy, [
          409,
          "Another server has the name or the id, or is known by another host key."
        ], [
          500,
          "The settings or the host keys cannot be read or written."
        ])
      )
      .setUrlParams(SettingsChangeQuery)
      .setPayload(ServerToStore)
      .addSuccess(StoredServerAnswer)
      .annotate(OpenApi.Summary, "Add or replace a server")
      .annotate(
        OpenApi.Description,
        "Replaces the stored server with the same id, or adds this one under a new id. With hostKey, the server has " +
          "to show that key when it is connected to for the first time. With newId, the new server gets that id, and with " +
          "uniqueName its name is refused where another one has it. With plan=true nothing is written, and the answer " +
          "has the diff of the settings file."
      )
  )
  .add(
    HttpApiEndpoint.put("replaceServer", "/api/servers/:id").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.body, failures.busy, failures.unknownServer, [
          409,
          "Several stored servers have this name, another one has the new name, or is known by another host key."
        ], [500, "The settings or the host keys cannot be read or written."])
      )
      .setPath(ServerIdPath)
      .setUrlParams(SettingsChangeQuery)
      .setPayload(ServerReplacement)
      .addSuccess(StoredServerAnswer)
      .annotate(OpenApi.Summary, "Replace a server")
      .annotate(
        OpenApi.Description,
        "Replaces a stored server; credentials and jump hosts that are left out are kept, as long as host, port and user " +
          "stay, and null clears them. With plan=true nothing is written, and the answer has the diff of the settings file."
      )
  )
  .add(
    HttpApiEndpoint.get("sshDefaults", "/api/servers/ssh-config").annotateContext(forOperators)
      .annotateContext(annotateFailures())
      .setUrlParams(SshDefaultsQuery)
      .addSuccess(SshDefaults)
      .annotate(OpenApi.Summary, "Look a host up in the SSH configuration")
      .annotate(
        OpenApi.Description,
        "What ~/.ssh/config of the user that runs Berth says of a host or alias: host name, port, user and " +
          "key, with file and line. Nothing is connected to, and no program of the configuration is executed."
      )
  )
  .add(
    HttpApiEndpoint.post("testServer", "/api/servers/test").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.body, failures.settings, failures.unknownServer, failures.sameNames))
      .setPayload(ServerTestRequest)
      .addSuccess(ServerTest)
      .annotate(OpenApi.Summary, "Test the connection to a server")
      .annotate(
        OpenApi.Description,
        "The host key of a server, stored or not, and whether the log-in, sudo and Docker work. Nothing is changed " +
          "and no key is remembered; a server whose key is new gets no credential until hostKey confirms its fingerprint."
      )
  )
  .add(
    HttpApiEndpoint.del("removeServer", "/api/servers/:id").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.noBody, failures.sameNames, failures.busy, [
        500,
        "The settings cannot be read or written."
      ]))
      .setPath(ServerIdPath)
      .addSuccess(Success)
      .annotate(OpenApi.Summary, "Remove a server")
      .annotate(OpenApi.Description, "Forgets a stored server; nothing on the server itself changes.")
  )
  .add(
    HttpApiEndpoint.get("scanServer", "/api/servers/:id/scan").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.server, [500, "The stacks cannot be listed."]))
      .setPath(ServerIdPath)
      .addSuccess(
        Schema.Struct({
          ...Success.fields,
          deployed: Schema.Array(DeployedProject).annotations({ description: "The directories under ~/containers." })
        })
      )
      .annotate(OpenApi.Summary, "Scan a server")
      .annotate(
        OpenApi.Description,
        "Lists the stacks under ~/containers on the server, with the first 256 KiB of each compose file; " +
          "a directory that is a link, or that cannot be read, is left out."
      )
  )
  .add(
    HttpApiEndpoint.get("listStacks", "/api/servers/:id/stacks").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.server, [502, "Docker cannot be used."]))
      .setPath(ServerIdPath)
      .addSuccess(
        Schema.Struct({
          stacks: Schema.Array(ServerStack).annotations({ description: "The compose projects, by directory." })
        })
      )
      .annotate(OpenApi.Summary, "List compose projects")
      .annotate(
        OpenApi.Description,
        "Lists every compose project of the server wherever it lies, also those that do not run, with the project that is " +
          "deployed there. Compose notes the directory on its containers; two projects of one name are two."
      )
  )
  .add(
    HttpApiEndpoint.get("listContainers", "/api/servers/:id/containers").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.server, [500, "The containers cannot be listed."]))
      .setPath(ServerIdPath)
      .setUrlParams(ContainersQuery)
      .addSuccess(
        Schema.Struct({
          ...Success.fields,
          containers: Schema.Array(Container).annotations({ description: "The containers." })
        })
      )
      .annotate(OpenApi.Summary, "List containers")
      .annotate(OpenApi.Description, "The containers that run on the server; with all=true the others too.")
  )
  .add(
    HttpApiEndpoint.get("serverStats", "/api/servers/:id/stats").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.server, [502, "Docker does not tell what the containers use."]))
      .setPath(ServerIdPath)
      .addSuccess(
        Schema.Struct({
          containers: Schema.Array(ContainerStats).annotations({ description: "The running containers." })
        })
      )
      .annotate(OpenApi.Summary, "Show what containers use")
      .annotate(
        OpenApi.Description,
        "CPU, memory and network of each running container; Docker measures for a second or two."
      )
  )
  .add(
    HttpApiEndpoint.get("listReleases", "/api/servers/:id/releases").annotateContext(forViewers)
      .annotateContext(
        annotateFailures(failures.server, [502, "The releases cannot be read, or Docker does not answer."])
      )
      .setPath(ServerIdPath)
      .setUrlParams(ReleasesQuery)
      .addSuccess(
        Schema.Struct({
          releases: Schema.Array(Release).annotations({ description: "The releases, newest first." })
        })
      )
      .annotate(OpenApi.Summary, "List releases")
      .annotate(
        OpenApi.Description,
        "Lists the releases that deploys and rollbacks left in remotePath, as many as deploy.keepReleases says: each can be gone back " +
          "to as long as its images are there. A directory without any has an empty list."
      )
  )
  .add(
    HttpApiEndpoint.get("compareReleases", "/api/servers/:id/releases/compare").annotateContext(forViewers)
      .annotateContext(
        annotateFailures(failures.server, failures.unknownRelease, [
          502,
          "The releases cannot be read, or Docker does not answer."
        ])
      )
      .setPath(ServerIdPath)
      .setUrlParams(ReleaseComparisonQuery)
      .addSuccess(ReleaseComparison)
      .annotate(OpenApi.Summary, "Compare two releases")
      .annotate(
        OpenApi.Description,
        "Compares two releases of remotePath: the image of each service, and the files. Small text files that differ come " +
          "with a diff; of env files only the names of variables are listed."
      )
  )
  .annotate(OpenApi.Title, "Servers")
  .annotate(OpenApi.Description, "The stored servers: what is deployed and runs on them, and their usage.")
{}

/** Resource usage over time. */
export class StatsApi extends HttpApiGroup.make("stats", { topLevel: true })
  .add(
    HttpApiEndpoint.get("statsHistory", "/api/servers/:id/stats/history").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.settings, failures.unknownServer, failures.sameNames))
      .setPath(ServerIdPath)
      .setUrlParams(StatsHistoryQuery)
      .addSuccess(StatsHistory)
      .annotate(OpenApi.Summary, "Show the usage of a server over time")
      .annotate(
        OpenApi.Description,
        "Load, memory and disks of a server, and CPU, memory, network and block I/O of its containers: a sample each 15 " +
          "seconds, kept in memory for an hour. A request starts the sampling, which ends a minute after the last one " +
          "unless stats.sample is always; the first waits for a sample. A sample that failed has an `error`."
      )
  )
  .annotate(OpenApi.Title, "Usage over time")
  .annotate(OpenApi.Description, "What servers and containers used during the last hour.")
{}
