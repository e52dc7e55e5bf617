import { HttpApiBuilder, HttpApiError, type HttpServerRequest } from "@effect/platform"
import { Clock, Effect, ParseResult, Schema, Stream } from "effect"
import { health } from "../../pipelines/health/health.ts"
import { followLogs, followProjects, logs } from "../../pipelines/servers/logs.ts"
import { listContainers, stats } from "../../pipelines/servers/servers.ts"
import { StatsHistory } from "../../pipelines/StatsHistory.ts"
import { type ExecEvent, ExecExit, ExecOutput, ExecRequest } from "../../schema/exec.ts"
import type { LogEvent } from "../../schema/logs.ts"
import type { ServerToStore } from "../../schema/servers.ts"
import type { SettingsChangeQuery } from "../../schema/settingsList.ts"
import { keptMinutes } from "../../schema/usage.ts"
import { CurrentCaller } from "../../services/access/Caller.ts"
import { Execs } from "../../services/exec.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { readSshDefaults } from "../../services/sshClient/jumpRoute.ts"
import { type ApiError, orApiError } from "../api/annotations.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { fromIssues } from "../requestTarget.ts"
import { EventStreams, loadOnUse, requester, type ServerEvent } from "../wire.ts"

const loadReleases = () => import("../../pipelines/releases/releases.ts")
const loadStacks = () => import("../../pipelines/adoption/serverStacks.ts")
const loadScan = () => import("../../pipelines/adoption/serverStacks.ts")
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
      .handle("listStacks", ({ path }) =>
        orApiError(
          Effect.map(
            loadOnUse(loadStacks, ({ listServerStacks }) => listServerStacks(path.id)),
            (stacks) => ({ stacks })
          )
        ))
      .handle("listContainers", ({ path, urlParams }) =>
        listContainers(path.id, { all: urlParams.all === "true" }).pipe(
          Effect.map((running) => ({ ...success, containers: running })),
          orApiError
        ))
      .handle("listReleases", ({ path, urlParams }) =>
        orApiError(loadOnUse(loadReleases, ({ listReleases }) =>
          Effect.map(listReleases(path.id, urlParams.remotePath), (releases) => ({ releases })))))
      .handle("compareReleases", ({ path, urlParams }) =>
        orApiError(loadOnUse(loadReleases, ({ compareReleases }) =>
          compareReleases(path.id, urlParams))))
      .handle("serverStats", ({ path }) =>
        orApiError(Effect.map(stats(path.id), (containers) => ({ containers }))))
  }))

export const StatsHandlers = HttpApiBuilder.group(
  BerthApi,
  "stats",
  (handlers) =>
    Effect.map(StatsHistory, (history) =>
      handlers.handle(
        "statsHistory",
        ({ path, urlParams: { minutes = keptMinutes } }) => orApiError(history.of(path.id, minutes))
      ))
)

const loadDisks = () => import("../../pipelines/disks.ts")

export const DisksHandlers = HttpApiBuilder.group(BerthApi, "disks", (handlers) =>
  handlers
    .handle("serverDisk", ({ path }) => orApiError(loadOnUse(loadDisks, ({ showDiskUse }) => showDiskUse(path.id))))
    .handle(
      "planPrune",
      ({ path, payload }) => orApiError(loadOnUse(loadDisks, ({ planPrune }) => planPrune(path.id, payload)))
    )
    .handle("prune", ({ path, payload }) => orApiError(loadOnUse(loadDisks, ({ prune }) => prune(path.id, payload)))))

const loadExec = () => import("../../pipelines/exec.ts")

/** Reads the body for a handler that writes its own answer; such handlers receive no payload. */
const bodyOf = <A, I>(
  request: HttpServerRequest.HttpServerRequest,
  schema: Schema.Schema<A, I>
): Effect.Effect<A, ApiError> =>
  request.json.pipe(
    // Outer middleware reports unreadable bodies, for all endpoints.
    Effect.orDie,
    Effect.flatMap(Schema.decodeUnknown(schema)),
    Effect.catchIf(ParseResult.isParseError, HttpApiError.HttpApiDecodeError.refailParseError),
    Effect.mapError(fromIssues)
  )

const encodeOutput = Schema.encodeSync(Schema.parseJson(ExecOutput))
const encodeExit = Schema.encodeSync(Schema.parseJson(ExecExit))

const encoded = (event: ExecEvent) => ({
  event: event.event,
  data: event.event === "output" ? encodeOutput(event.data) : encodeExit(event.data)
})

export const ExecHandlers = HttpApiBuilder.group(BerthApi, "exec", (handlers) =>
  Effect.gen(function*() {
    const execs = yield* Execs
    const streams = yield* EventStreams
    const caller = Effect.map(CurrentCaller, ({ name }) => name)
    return handlers
      .handleRaw("startExec", ({ path, request }) =>
        orApiError(Effect.gen(function*() {
          const payload = yield* bodyOf(request, ExecRequest)
          const respond = yield* streams.open
          const requestedBy = yield* requester
          const { events, opened } = yield* loadOnUse(
            loadExec,
            ({ openExec }) => openExec(path.id, payload, requestedBy)
          )
          return Stream.make({ event: "opened", data: JSON.stringify(opened) }).pipe(
            Stream.concat(Stream.map(events, encoded)),
            Stream.catchAll(({ message }) => Stream.make({ event: "error", data: JSON.stringify({ error: message }) })),
            respond
          )
        })))
      .handle("sendExecInput", ({ path, payload }) =>
        orApiError(Effect.flatMap(caller, (name) => execs.send(name, path.id, payload))))
      .handle("resizeExec", ({ path, payload }) =>
        caller.pipe(
          Effect.flatMap((name) =>
            execs.resize(name, path.id, payload)
          ),
          Effect.as(success),
          orApiError
        ))
      .handle("endExec", ({ path }) =>
        caller.pipe(
          Effect.flatMap((name) => execs.end(name, path.id)),
          Effect.as(success),
          orApiError
        ))
  }))

/** Encodes the events of a followed log; a failure becomes the last event. */
const logEvents = <E extends { readonly message: string }>(
  events: Stream.Stream<LogEvent, E>
): Stream.Stream<ServerEvent> =>
  events.pipe(
    Stream.map(({ data, event }) => ({ event, data: JSON.stringify(data) })),
    Stream.catchAll(({ message }) => Stream.make({ event: "error", data: JSON.stringify({ error: message }) }))
  )

export const LogsHandlers = HttpApiBuilder.group(
  BerthApi,
  "logs",
  (handlers) =>
    Effect.map(EventStreams, (streams) =>
      handlers
        .handle(
          "serverLogs",
          ({ path, urlParams }) =>
            orApiError(Effect.map(logs(path.id, urlParams), (text) => ({ success: true as const, logs: text })))
        )
        .handleRaw("followLogs", ({ path, urlParams }) =>
          orApiError(Effect.gen(function*() {
            const respond = yield* streams.open
            return respond(logEvents(yield* followLogs(path.id, urlParams)))
          })))
        .handleRaw("followProjectLogs", ({ urlParams: { project, ...query } }) =>
          orApiError(Effect.gen(function*() {
            const respond = yield* streams.open
            return respond(logEvents(yield* followProjects(project, query)))
          }))))
)

export const HealthHandlers = HttpApiBuilder.group(BerthApi, "health", (handlers) =>
  Effect.map(
    Clock.currentTimeMillis,
    (startedAt) => handlers.handle("health", ({ urlParams }) => health({ deep: urlParams.deep === "true", startedAt }))
  ))

const load = () => import("../../pipelines/metrics.ts")

export const MetricsHandlers = HttpApiBuilder.group(
  BerthApi,
  "metrics",
  (handlers) => handlers.handle("metrics", () => orApiError(loadOnUse(load, ({ metrics }) => metrics)))
)
