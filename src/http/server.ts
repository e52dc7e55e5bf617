import { HttpApiBuilder } from "@effect/platform"
import { Effect, Layer } from "effect"
import { keepTakingUpRuns } from "../pipelines/runs/takeUpRuns.ts"
import { AllowedLive } from "./allowed.ts"
import { answerDefects } from "./answerDefects.ts"
import { BerthApi } from "./api/BerthApi.ts"
import { ErrorsLive } from "./errors.ts"
import { EventStreamsLive } from "./eventStreams.ts"
import { CurrentPolicyLive } from "./guard/CurrentPolicy.ts"
import { guard } from "./guard/guard.ts"
import { ApplicationsHandlers } from "./handlers/applications.ts"
import { DeployHandlers } from "./handlers/deploy.ts"
import { HealthHandlers } from "./handlers/health.ts"
import { OverviewHandlers } from "./handlers/overview.ts"
import { ProjectsHandlers } from "./handlers/projects.ts"
import { RoutesHandlers } from "./handlers/routes.ts"
import { RunsHandlers } from "./handlers/runs.ts"
import { ServersHandlers } from "./handlers/servers.ts"
import { SessionHandlers } from "./handlers/session.ts"
import { StacksHandlers } from "./handlers/stacks.ts"
import { WebhooksHandlers } from "./handlers/webhooks.ts"
import { KnownQueryLive } from "./knownQuery.ts"
import { Pages } from "./pages.ts"
import { ReadOnlyAgentsLive } from "./readOnlyAgents.ts"
import { RunRequestsLive } from "./runRequests.ts"
import { WrongTokensLive } from "./session/WrongTokens.ts"

const ApiLive = HttpApiBuilder.api(BerthApi).pipe(
  Layer.provide([
    HealthHandlers,
    OverviewHandlers,
    ProjectsHandlers,
    ServersHandlers,
    DeployHandlers,
    StacksHandlers,
    ApplicationsHandlers,
    RoutesHandlers,
    WebhooksHandlers,
    RunsHandlers,
    SessionHandlers
  ]),
  Layer.provide([KnownQueryLive, AllowedLive, CurrentPolicyLive, EventStreamsLive, WrongTokensLive])
)

// What is asked for first is answered first: going on with what an earlier process left can wait a moment.
const TakeUpRuns = Layer.scopedDiscard(Effect.forkScoped(Effect.delay(keepTakingUpRuns, "300 millis")))

/** Every endpoint with what they have in common, without what is about connections: the guard, and pages to read. */
export const EndpointsLive = ErrorsLive.pipe(
  Layer.provideMerge(ReadOnlyAgentsLive),
  Layer.provideMerge(RunRequestsLive),
  Layer.provideMerge(ApiLive)
)

const serve = HttpApiBuilder.serve((app) => answerDefects(guard(app)))
const Guarded = Layer.mergeAll(EndpointsLive, CurrentPolicyLive, WrongTokensLive)

/** The endpoints behind the guard, as a command answers at them while its run lasts. */
export const CommandHttp = Layer.provide(serve, Guarded)

/** The whole HTTP interface; it needs an `HttpServer` to listen on, and the services that the handlers use. */
export const Http = serve.pipe(
  Layer.provide(Pages),
  Layer.provide(Guarded),
  Layer.merge(TakeUpRuns)
)
