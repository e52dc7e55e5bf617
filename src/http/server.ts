import { HttpApiBuilder } from "@effect/platform"
import { Effect, Layer } from "effect"
import { keepRecoveringRuns } from "../pipelines/runs/recoverRuns.ts"
import { StatsHistory, StatsHistoryLive } from "../pipelines/stats/StatsHistory.ts"
import { Notifier } from "../services/notify/Notifier.ts"
import { Telemetry } from "../services/telemetry/Telemetry.ts"
import { AllowedLive } from "./allowed.ts"
import { answerDefects } from "./answerDefects.ts"
import { BerthApi } from "./api/BerthApi.ts"
import { CurrentPolicyLive } from "./guard/CurrentPolicy.ts"
import { guard } from "./guard/guard.ts"
import { ApplicationsHandlers } from "./handlers/applications.ts"
import { DeclaredHandlers } from "./handlers/declared.ts"
import { DeployHandlers } from "./handlers/deploy.ts"
import { ExecHandlers } from "./handlers/exec.ts"
import { HealthHandlers } from "./handlers/health.ts"
import { LogsHandlers } from "./handlers/logs.ts"
import { MetricsHandlers } from "./handlers/metrics.ts"
import { NotifyHandlers } from "./handlers/notify.ts"
import { OverviewHandlers } from "./handlers/overview.ts"
import { ProjectsHandlers } from "./handlers/projects.ts"
import { RoutesHandlers } from "./handlers/routes.ts"
import { RunsHandlers } from "./handlers/runs.ts"
import { ServersHandlers } from "./handlers/servers.ts"
import { SessionHandlers } from "./handlers/session.ts"
import { SettingsHandlers } from "./handlers/settings.ts"
import { StacksHandlers } from "./handlers/stacks.ts"
import { StatsHandlers } from "./handlers/stats.ts"
import { WebhooksHandlers } from "./handlers/webhooks.ts"
import { KnownQueryLive } from "./knownQuery.ts"
import { Pages } from "./pages.ts"
import { ReadOnlyAgentsLive } from "./readOnlyAgents.ts"
import { RunRequestsLive } from "./runRequests.ts"
import { WrongTokensLive } from "./session/WrongTokens.ts"
import { ErrorsLive } from "./wire/errors.ts"
import { EventStreamsLive } from "./wire/eventStreams.ts"

const ApiLive = HttpApiBuilder.api(BerthApi).pipe(
  Layer.provide([
    HealthHandlers,
    OverviewHandlers,
    MetricsHandlers,
    ProjectsHandlers,
    ServersHandlers,
    StatsHandlers,
    LogsHandlers,
    ExecHandlers,
    SettingsHandlers,
    DeployHandlers,
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
  Effect.promise(() => import("../pipelines/metrics/gauges.ts")),
  ({ recordGauges }) => recordGauges
)

const SampleAlways = Layer.scopedDiscard(Effect.forkScoped(Effect.delay(
  Effect.flatMap(StatsHistory, ({ keepSampling }) => keepSampling),
  "1 second"
))).pipe(Layer.provide(StatsHistoryLive))

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
  // Built before what listens: the first requests are traced, too.
  Layer.provide(ExportTelemetry),
  Layer.provide(Traced)
)
