import { HttpApiBuilder } from "@effect/platform"
import { Effect, Layer } from "effect"
import { keepRecoveringRuns } from "../pipelines/runs.ts"
import { StatsHistory, StatsHistoryLive } from "../pipelines/StatsHistory.ts"
import { Notifier } from "../services/notify/Notifier.ts"
import { Telemetry } from "../services/telemetry/Telemetry.ts"
import { BerthApi } from "./api/BerthApi.ts"
import { KnownQueryLive } from "./body.ts"
import { AllowedLive, answerDefects, CurrentPolicyLive, guard, ReadOnlyAgentsLive } from "./guard.ts"
import { ApplicationsHandlers, DeclaredHandlers, RoutesHandlers, WebhooksHandlers } from "./handlers/applications.ts"
import { BackupsHandlers, DeployHandlers, StacksHandlers } from "./handlers/deploys.ts"
import { OverviewHandlers, ProjectsHandlers } from "./handlers/projects.ts"
import {
  DisksHandlers,
  ExecHandlers,
  HealthHandlers,
  LogsHandlers,
  MetricsHandlers,
  ServersHandlers,
  StatsHandlers
} from "./handlers/servers.ts"
import { NotifyHandlers, SessionHandlers, SettingsHandlers, TokensHandlers } from "./handlers/session.ts"
import { Pages } from "./pages.ts"
import { ErrorsLive } from "./requestTarget.ts"
import { RunRequestsLive, RunsHandlers } from "./runRequests.ts"
import { WrongTokensLive } from "./sessions.ts"
import { EventStreamsLive } from "./wire.ts"

const ApiLive = HttpApiBuilder.api(BerthApi).pipe(
  Layer.provide([
    HealthHandlers,
    OverviewHandlers,
    MetricsHandlers,
    ProjectsHandlers,
    ServersHandlers,
    StatsHandlers,
    DisksHandlers,
    LogsHandlers,
    ExecHandlers,
    SettingsHandlers,
    TokensHandlers,
    DeployHandlers,
    BackupsHandlers,
    StacksHandlers,
    ApplicationsHandlers,
    DeclaredHandlers,
    RoutesHandlers,
    WebhooksHandlers,
    RunsHandlers,
    NotifyHandlers,
    SessionHandlers
  ]),
  Layer.provide(StatsHistoryLive),
  Layer.provide([KnownQueryLive, AllowedLive, CurrentPolicyLive, EventStreamsLive, WrongTokensLive])
)

// Delayed so that the first requests are handled before runs of an earlier process are recovered.
const TakeUpRuns = Layer.scopedDiscard(Effect.forkScoped(Effect.delay(
  Effect.zipRight(Effect.flatMap(Notifier, ({ serve }) => serve), keepRecoveringRuns),
  "300 millis"
)))

const recordGauges = Effect.flatMap(
  Effect.promise(() => import("../pipelines/metrics.ts")),
  ({ recordGauges }) => recordGauges
)

const SampleAlways = Layer.scopedDiscard(Effect.forkScoped(Effect.delay(
  Effect.flatMap(StatsHistory, ({ keepSampling }) => keepSampling),
  "1 second"
))).pipe(Layer.provide(StatsHistoryLive))

const KeepBackups = Layer.scopedDiscard(Effect.forkScoped(Effect.delay(
  Effect.flatMap(
    Effect.promise(() => import("../pipelines/backups/schedule.ts")),
    ({ keepBackups }) => keepBackups
  ),
  "5 seconds"
)))

const ExportTelemetry = Layer.scopedDiscard(Effect.flatMap(Telemetry, ({ serve }) => serve(recordGauges)))

/** Traces the requests and the runs that they start. */
const Traced = Layer.unwrapEffect(Effect.map(Telemetry, ({ tracer }) => Layer.setTracer(tracer)))

/** All endpoints with their common middleware, without the parts for network connections: the guard and the pages. */
export const EndpointsLive = ErrorsLive.pipe(
  Layer.provideMerge(ReadOnlyAgentsLive),
  Layer.provideMerge(RunRequestsLive),
  Layer.provideMerge(ApiLive)
)

const serve = HttpApiBuilder.serve((app) => answerDefects(guard(app)))
const Guarded = Layer.mergeAll(EndpointsLive, CurrentPolicyLive, WrongTokensLive)

/** Endpoints behind the guard, served by a command while its run lasts. */
export const CommandHttp = Layer.provide(serve, Guarded)

/** The whole HTTP interface; requires an `HttpServer` and the services of the handlers. */
export const Http = serve.pipe(
  Layer.provide(Pages),
  Layer.provide(Guarded),
  Layer.merge(TakeUpRuns),
  Layer.merge(SampleAlways),
  Layer.merge(KeepBackups),
  // Built before what listens: the first requests are traced, too.
  Layer.provide(ExportTelemetry),
  Layer.provide(Traced)
)
