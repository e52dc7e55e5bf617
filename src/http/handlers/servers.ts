import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { compareReleases } from "../../pipelines/releases/compareReleases.ts"
import { listReleases } from "../../pipelines/releases/listReleases.ts"
import { listContainers } from "../../pipelines/servers/listContainers.ts"
import { stats } from "../../pipelines/servers/stats.ts"
import type { ServerToStore } from "../../schema/servers/ServerToStore.ts"
import type { SettingsChangeQuery } from "../../schema/settings/SettingsList.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { readSshDefaults } from "../../services/sshClient/readSshDefaults.ts"
import { orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { loadOnUse } from "../wire/loadOnUse.ts"

const loadScan = () => import("../../pipelines/servers/scan.ts")
const loadStore = () => import("../../pipelines/servers/storeServer.ts")
const loadTest = () => import("../../pipelines/health/testServer.ts")

const success = { success: true as const }

/** Stores a server, or only plans to. */
const stored = (input: ServerToStore, { plan }: SettingsChangeQuery) =>
  plan === "true"
    ? Effect.map(loadOnUse(loadStore, ({ planServer }) => planServer(input)), (planned) => ({ ...success, ...planned }))
    : Effect.map(loadOnUse(loadStore, ({ storeServer }) => storeServer(input)), (server) => ({ ...success, server }))

export const ServersHandlers = HttpApiBuilder.group(BerthApi, "servers", (handlers) =>
  Effect.gen(function*() {
    const settings = yield* Settings
    return handlers
      .handle("listServers", () => orApiError(settings.servers))
      .handle("saveServer", ({ payload, urlParams }) => orApiError(stored(payload, urlParams)))
      .handle("replaceServer", ({ path, payload, urlParams }) =>
        orApiError(Effect.flatMap(settings.serverId(path.id), (id) =>
          stored({ ...payload, id }, urlParams))))
      .handle("sshDefaults", ({ urlParams }) =>
        orApiError(readSshDefaults(urlParams)))
      .handle("testServer", ({ payload }) => orApiError(loadOnUse(loadTest, ({ testServer }) => testServer(payload))))
      .handle("removeServer", ({ path }) => settings.removeServer(path.id).pipe(Effect.as(success), orApiError))
      .handle("scanServer", ({ path }) =>
        loadOnUse(loadScan, ({ scan }) => scan(path.id)).pipe(
          Effect.map((deployed) => ({ ...success, deployed })),
          orApiError
        ))
      .handle("listContainers", ({ path, urlParams }) =>
        listContainers(path.id, { all: urlParams.all === "true" }).pipe(
          Effect.map((running) => ({ ...success, containers: running })),
          orApiError
        ))
      .handle("listReleases", ({ path, urlParams }) =>
        orApiError(Effect.map(listReleases(path.id, urlParams.remotePath), (releases) => ({ releases }))))
      .handle("compareReleases", ({ path, urlParams }) =>
        orApiError(compareReleases(path.id, urlParams)))
      .handle("serverStats", ({ path }) =>
        orApiError(Effect.map(stats(path.id), (containers) => ({ containers }))))
  }))
