import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { CreateApp, CreateEnv } from "../../schema/CreateApp.ts"
import { PlatformApp, PlatformRecordBody } from "../../schema/PlatformApp.ts"
import { JsonObject, Relayed, UuidPath } from "./relayed.ts"

const help = (summary: string, description: string) => OpenApi.annotations({ summary, description })

/** The applications on the deployment platform. */
export class ApplicationsApi extends HttpApiGroup.make("applications", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listApplications", "/api/platform/apps")
      .addSuccess(Schema.Array(PlatformApp))
      .annotateContext(
        help("List applications", "Every application of the platform with its port and its environment variables.")
      )
  )
  .add(
    HttpApiEndpoint.post("createApplication", "/api/platform/apps")
      .setPayload(CreateApp)
      .addSuccess(Relayed)
      .annotateContext(
        help("Create an application", "Creates an application from a private repository; does not deploy it.")
      )
  )
  .add(
    HttpApiEndpoint.get("findApplication", "/api/platform/apps/find/:name")
      .setPath(Schema.Struct({ name: Schema.String }))
      .addSuccess(Schema.NullOr(PlatformRecordBody))
      .annotateContext(help("Find an application", "The application with exactly this name, or null."))
  )
  .add(
    HttpApiEndpoint.patch("updateApplication", "/api/platform/apps/:uuid")
      .setPath(UuidPath)
      .setPayload(JsonObject)
      .addSuccess(Relayed)
      .annotateContext(help("Change an application", "Hands these fields on to the platform as they are."))
  )
  .add(
    HttpApiEndpoint.del("deleteApplication", "/api/platform/apps/:uuid")
      .setPath(UuidPath)
      .addSuccess(Relayed)
      .annotateContext(help("Delete an application", "Deletes an application from the platform."))
  )
  .add(
    HttpApiEndpoint.get("listEnvs", "/api/platform/apps/:uuid/envs")
      .setPath(UuidPath)
      .addSuccess(Relayed)
      .annotateContext(
        help("List environment variables", "The application's environment variables: an array of id, key and value.")
      )
  )
  .add(
    HttpApiEndpoint.post("createEnv", "/api/platform/apps/:uuid/envs")
      .setPath(UuidPath)
      .setPayload(CreateEnv)
      .addSuccess(Relayed)
      .annotateContext(help("Create an environment variable", "Gives an application a new environment variable."))
  )
  .add(
    HttpApiEndpoint.post("deployApplication", "/api/platform/apps/:uuid/deploy")
      .setPath(UuidPath)
      .addSuccess(Relayed)
      .annotateContext(
        help("Deploy an application", "Asks the platform to build and start an application, even if nothing changed.")
      )
  )
  .add(
    HttpApiEndpoint.get("listPlatformServers", "/api/platform/servers")
      .addSuccess(Relayed)
      .annotateContext(
        help("List platform servers", "The servers that the platform deploys to: an array of uuid, name and ip.")
      )
  )
  .annotate(OpenApi.Title, "Platform applications")
{}
