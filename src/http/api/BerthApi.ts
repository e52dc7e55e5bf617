import { HttpApi, OpenApi } from "@effect/platform"
import { version } from "../../schema/version.ts"
import { ApiErrorFromBody } from "./ApiError.ts"
import { ApplicationsApi } from "./ApplicationsApi.ts"
import { DeployApi } from "./DeployApi.ts"
import { documented } from "./documented.ts"
import { HealthApi } from "./HealthApi.ts"
import { KnownQuery } from "./KnownQuery.ts"
import { OverviewApi } from "./OverviewApi.ts"
import { ProjectsApi } from "./ProjectsApi.ts"
import { RoutesApi } from "./RoutesApi.ts"
import { RunsApi } from "./RunsApi.ts"
import { ServersApi } from "./ServersApi.ts"
import { StacksApi } from "./StacksApi.ts"
import { WebhooksApi } from "./WebhooksApi.ts"

/** Every endpoint of the service: what it takes, what it answers, and one sentence of help. */
export class BerthApi extends HttpApi.make("berth")
  .add(HealthApi)
  .add(OverviewApi)
  .add(ProjectsApi)
  .add(ServersApi)
  .add(DeployApi)
  .add(StacksApi)
  .add(ApplicationsApi)
  .add(RoutesApi)
  .add(WebhooksApi)
  .add(RunsApi)
  .addError(ApiErrorFromBody)
  .middleware(KnownQuery)
  .annotate(OpenApi.Title, "Berth")
  .annotate(OpenApi.Version, version)
  .annotate(
    OpenApi.Description,
    "Deploys container projects to servers over SSH and keeps platform applications, proxy routes and webhooks as a " +
      "project declares them. Every failure is a JSON body with one field, `error`."
  )
  .annotate(OpenApi.License, { name: "MIT", url: "https://opensource.org/license/mit" })
  .annotate(OpenApi.Servers, [{ url: "/", description: "The service that answers this description." }])
  .annotate(OpenApi.Transform, documented)
{}
