import { HttpApi, OpenApi } from "@effect/platform"
import { version } from "../../schema/session.ts"
import { Allowed, ApiErrorFromBody, collectFailures, KnownQuery } from "./annotations.ts"
import { ApplicationsApi } from "./applications.ts"
import { BackupsApi } from "./backups.ts"
import { DeclaredApi } from "./declared.ts"
import { DeployApi } from "./deploys.ts"
import { DisksApi } from "./disks.ts"
import { ExecApi } from "./exec.ts"
import { HealthApi, MetricsApi } from "./health.ts"
import { LogsApi } from "./logs.ts"
import { documentFailures } from "./openApi.ts"
import { OverviewApi, ProjectsApi } from "./projects.ts"
import { RoutesApi } from "./routes.ts"
import { RunsApi } from "./runs.ts"
import { ServersApi, StatsApi } from "./servers.ts"
import { SessionApi } from "./session.ts"
import { NotifyApi, SettingsApi, TokensApi } from "./settings.ts"
import { StacksApi } from "./stacks.ts"
import { WebhooksApi } from "./webhooks.ts"

const api = HttpApi.make("berth")
  .add(HealthApi.middleware(KnownQuery).middleware(Allowed))
  .add(MetricsApi.middleware(KnownQuery).middleware(Allowed))
  .add(OverviewApi.middleware(KnownQuery).middleware(Allowed))
  .add(ProjectsApi.middleware(KnownQuery).middleware(Allowed))
  .add(ServersApi.middleware(KnownQuery).middleware(Allowed))
  .add(StatsApi.middleware(KnownQuery).middleware(Allowed))
  .add(DisksApi.middleware(KnownQuery).middleware(Allowed))
  .add(LogsApi.middleware(KnownQuery).middleware(Allowed))
  .add(ExecApi.middleware(KnownQuery).middleware(Allowed))
  .add(DeployApi.middleware(KnownQuery).middleware(Allowed))
  .add(BackupsApi.middleware(KnownQuery).middleware(Allowed))
  .add(StacksApi.middleware(KnownQuery).middleware(Allowed))
  .add(ApplicationsApi.middleware(KnownQuery).middleware(Allowed))
  .add(DeclaredApi.middleware(KnownQuery).middleware(Allowed))
  .add(RoutesApi.middleware(KnownQuery).middleware(Allowed))
  .add(WebhooksApi.middleware(KnownQuery).middleware(Allowed))
  .add(RunsApi.middleware(KnownQuery).middleware(Allowed))
  .add(NotifyApi.middleware(KnownQuery).middleware(Allowed))
  .add(SettingsApi.middleware(KnownQuery).middleware(Allowed))
  .add(TokensApi.middleware(KnownQuery).middleware(Allowed))
  .add(SessionApi.middleware(KnownQuery).middleware(Allowed))
  .addError(ApiErrorFromBody)
  .annotate(OpenApi.Title, "Berth")
  .annotate(OpenApi.Version, version)
  .annotate(
    OpenApi.Description,
    "Deploys container projects to servers over SSH and keeps platform applications, proxy routes and webhooks as a " +
      "project declares them. Every failure is a JSON body with one field, `error`."
  )
  .annotate(OpenApi.License, { name: "MIT", url: "https://opensource.org/license/mit" })
  .annotate(OpenApi.Servers, [{ url: "/", description: "The service that answers this description." }])

/**
 * Every endpoint of the service: request, response, access and one sentence of help. The groups check the roles that
 * their endpoints declare.
 */
export class BerthApi extends api.annotate(OpenApi.Transform, documentFailures(collectFailures(api))) {}
