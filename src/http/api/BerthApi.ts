import { HttpApi, OpenApi } from "@effect/platform"
import { ApiErrorFromBody } from "./ApiError.ts"
import { ApplicationsApi } from "./ApplicationsApi.ts"
import { ContainerApi } from "./ContainerApi.ts"
import { documented } from "./documented.ts"
import { InfrastructureApi } from "./InfrastructureApi.ts"
import { PipelinesApi } from "./PipelinesApi.ts"
import { ProjectsApi } from "./ProjectsApi.ts"
import { ServersApi } from "./ServersApi.ts"
import { SystemApi } from "./SystemApi.ts"
import { WebhooksApi } from "./WebhooksApi.ts"

/** The version of the API and of the package. */
export const version = "2.0.0"

/** Every endpoint of the service: what it takes, what it answers, and one sentence of help. */
export class BerthApi extends HttpApi.make("berth")
  .add(SystemApi)
  .add(ProjectsApi)
  .add(ServersApi)
  .add(ContainerApi)
  .add(ApplicationsApi)
  .add(InfrastructureApi)
  .add(PipelinesApi)
  .add(WebhooksApi)
  .addError(ApiErrorFromBody)
  .annotate(OpenApi.Title, "Berth")
  .annotate(OpenApi.Version, version)
  .annotate(
    OpenApi.Description,
    "Deploys container projects to servers over SSH and keeps platform applications, proxy routes and webhooks as a " +
      "project declares them. Every failure is a JSON body with one field, `error`."
  )
  .annotate(OpenApi.Transform, documented)
{}
