import { HttpApi, OpenApi } from "@effect/platform"
import { version } from "../../schema/version.ts"
import { Allowed } from "./annotations/access.ts"
import { ApiErrorFromBody } from "./annotations/ApiError.ts"
import { documentFailures } from "./annotations/documented.ts"
import { collectFailures } from "./annotations/failures.ts"
import { KnownQuery } from "./annotations/KnownQuery.ts"
import { ApplicationsApi } from "./ApplicationsApi.ts"
import { DeclaredApi } from "./DeclaredApi.ts"
import { DeployApi } from "./DeployApi.ts"
import { ExecApi } from "./ExecApi.ts"
import { HealthApi } from "./HealthApi.ts"
import { LogsApi } from "./LogsApi.ts"
import { MetricsApi } from "./MetricsApi.ts"
import { NotifyApi } from "./NotifyApi.ts"
import { OverviewApi } from "./OverviewApi.ts"
import { ProjectsApi } from "./ProjectsApi.ts"
import { RoutesApi } from "./RoutesApi.ts"
import { RunsApi } from "./RunsApi.ts"
import { ServersApi } from "./ServersApi.ts"
import { SessionApi } from "./SessionApi.ts"
import { SettingsApi } from "./SettingsApi.ts"
import { StacksApi } from "./StacksApi.ts"
import { StatsApi } from "./StatsApi.ts"
import { WebhooksApi } from "./WebhooksApi.ts"

const api = HttpApi.make("berth")
  .add(HealthApi.middleware(KnownQuery).middleware(Allowed))
  .add(MetricsApi.middleware(KnownQuery).middleware(Allowed))
  .add(OverviewApi.middleware(KnownQuery).middleware(Allowed))
  .add(ProjectsApi.middleware(KnownQuery).middleware(Allowed))
  .add(ServersApi.middleware(KnownQuery).middleware(Allowed))
  .add(StatsApi.middleware(KnownQuery).middleware(Allowed))
  .add(LogsApi.middleware(KnownQuery).middleware(Allowed))
  .add(ExecApi.middleware(KnownQuery).middleware(Allowed))
  .add(DeployApi.middleware(KnownQuery).middleware(Allowed))
  .add(StacksApi.middleware(KnownQuery).middleware(Allowed))
  .add(ApplicationsApi.middleware(KnownQuery).middleware(Allowed))
  .add(DeclaredApi.middleware(KnownQuery).middleware(Allowed))
  .add(RoutesApi.middleware(KnownQuery).middleware(Allowed))
  .add(WebhooksApi.middleware(KnownQuery).middleware(Allowed))
  .add(RunsApi.middleware(KnownQuery).middleware(Allowed))
  .add(NotifyApi.middleware(KnownQuery).middleware(Allowed))
  .add(SettingsApi.middleware(KnownQuery).middleware(Allowed))
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
