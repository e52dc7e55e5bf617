import { HttpApiBuilder } from "@effect/platform"
import { Effect, Stream } from "effect"
import { testServer } from "../../pipelines/health/testServer.ts"
import { listReleases } from "../../pipelines/releases/listReleases.ts"
import { containers } from "../../pipelines/servers/containers.ts"
import { followLogs } from "../../pipelines/servers/followLogs.ts"
import { logs } from "../../pipelines/servers/logs.ts"
import { scan } from "../../pipelines/servers/scan.ts"
import { sshDefaults } from "../../pipelines/servers/sshDefaults.ts"
import { stats } from "../../pipelines/servers/stats.ts"
import { storeServer } from "../../pipelines/servers/storeServer.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { orApiError } from "../api/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { EventStreams } from "../eventStreams.ts"

const success = { success: true as const }

export const ServersHandlers = HttpApiBuilder.group(BerthApi, "servers", (handlers) =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const streams = yield* EventStreams
    return handlers
      .handle("listServers", () => orApiError(settings.servers))
      .handle("saveServer", ({ payload }) =>
        storeServer(payload).pipe(Effect.map((server) => ({ ...success, server })), orApiError))
      .handle("sshDefaults", ({ urlParams }) =>
        orApiError(sshDefaults(urlParams)))
      .handle("testServer", ({ payload }) => orApiError(testServer(payload)))
      .handle("removeServer", ({ path }) => settings.removeServer(path.id).pipe(Effect.as(success), orApiError))
      .handle("scanServer", ({ path }) =>
        scan(path.id).pipe(Effect.map((deployed) => ({ ...success, deployed })), orApiError))
      .handle("listContainers", ({ path }) =>
        containers(path.id).pipe(Effect.map((running) => ({ ...success, containers: running })), orApiError))
      .handle("serverLogs", ({ path, urlParams }) =>
        logs(path.id, urlParams).pipe(Effect.map((text) => ({ ...success, logs: text })), orApiError))
      .handleRaw("followLogs", ({ path, urlParams }) =>
        orApiError(Effect.gen(function*() {
          const respond = yield* streams.open
          const events = yield* followLogs(path.id, urlParams)
          return events.pipe(
            Stream.map(({ data, event }) => ({ event, data: JSON.stringify(data) })),
            Stream.catchAll(({ message }) =>
              Stream.make({ event: "error", data: JSON.stringify({ error: message }) })
            ),
            respond
          )
        })))
      .handle("listReleases", ({ path, urlParams }) =>
        orApiError(Effect.map(listReleases(path.id, urlParams.remotePath), (releases) => ({ releases }))))
      .handle("serverStats", ({ path }) =>
        orApiError(Effect.map(stats(path.id), (containers) => ({ containers }))))
  }))
