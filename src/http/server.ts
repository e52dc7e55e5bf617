import { HttpApiBuilder } from "@effect/platform"
import { Layer } from "effect"
import { BerthApi } from "./api/BerthApi.ts"
import { ErrorsLive } from "./errors.ts"
import { guard } from "./guard/guard.ts"
import { ApplicationsHandlers } from "./handlers/applications.ts"
import { ContainerHandlers } from "./handlers/container.ts"
import { InfrastructureHandlers } from "./handlers/infrastructure.ts"
import { PipelinesHandlers } from "./handlers/pipelines.ts"
import { ProjectsHandlers } from "./handlers/projects.ts"
import { ServersHandlers } from "./handlers/servers.ts"
import { SystemHandlers } from "./handlers/system.ts"
import { WebhooksHandlers } from "./handlers/webhooks.ts"
import { Reference } from "./reference.ts"

const ApiLive = HttpApiBuilder.api(BerthApi).pipe(
  Layer.provide([
    SystemHandlers,
    ProjectsHandlers,
    ServersHandlers,
    ContainerHandlers,
    ApplicationsHandlers,
    InfrastructureHandlers,
    PipelinesHandlers,
    WebhooksHandlers
  ])
)

/** The whole HTTP interface; it needs an `HttpServer` to listen on, and the services that the handlers use. */
export const Http = HttpApiBuilder.serve(guard).pipe(
  Layer.provide(Reference),
  Layer.provide(HttpApiBuilder.middlewareOpenApi({ path: "/openapi.json" })),
  Layer.provide(ErrorsLive),
  Layer.provide(ApiLive)
)
