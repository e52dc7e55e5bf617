import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import {
  CreateApp,
  CreateEnv,
  PlatformApp,
  PlatformRecordBody,
  Removal,
  RemovalRequest,
  Removed
} from "../../schema/applications.ts"
import { text } from "../../schema/validation.ts"
import * as failures from "./annotations.ts"
import {
  annotateFailures,
  forOperators,
  forViewers,
  JsonObject,
  optionalBody,
  Relayed,
  UuidPath
} from "./annotations.ts"

/** The applications on the deployment platform. */
export class ApplicationsApi extends HttpApiGroup.make("applications", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listApplications", "/api/platform/apps").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.platform))
      .addSuccess(Schema.Array(PlatformApp))
      .annotate(OpenApi.Summary, "List applications")
      .annotate(
        OpenApi.Description,
        "Every application of the platform with its port and its environment variables; their values are for operators."
      )
  )
  .add(
    HttpApiEndpoint.post("createApplication", "/api/platform/apps").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.body, failures.platform))
      .setPayload(CreateApp)
      .addSuccess(Relayed)
      .annotate(OpenApi.Summary, "Create an application")
      .annotate(OpenApi.Description, "Creates an application from a private repository; does not deploy it.")
  )
  .add(
    HttpApiEndpoint.get("findApplication", "/api/platform/apps/find/:name").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.platform))
      .setPath(Schema.Struct({ name: text("The exact name of the application.", "hello") }))
      .addSuccess(Schema.NullOr(PlatformRecordBody))
      .annotate(OpenApi.Summary, "Find an application")
      .annotate(OpenApi.Description, "The application with exactly this name, or null.")
  )
  .add(
    HttpApiEndpoint.patch("updateApplication", "/api/platform/apps/:uuid").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.body, failures.platform))
      .setPath(UuidPath)
      .setPayload(JsonObject)
      .addSuccess(Relayed)
      .annotate(OpenApi.Summary, "Change an application")
      .annotate(OpenApi.Description, "Hands these fields on to the platform as they are.")
  )
  .add(
    HttpApiEndpoint.del("deleteApplication", "/api/platform/apps/:uuid").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.noBody, failures.platform))
      .setPath(UuidPath)
      .addSuccess(Relayed)
      .annotate(OpenApi.Summary, "Delete an application")
      .annotate(OpenApi.Description, "Deletes an application from the platform; its route and its webhook stay.")
  )
  .add(
    HttpApiEndpoint.get("planRemoval", "/api/platform/apps/:uuid/removal").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.platform))
      .setPath(UuidPath)
      .addSuccess(Removal)
      .annotate(OpenApi.Summary, "Plan the removal of an application")
      .annotate(
        OpenApi.Description,
        "Parts that would go with the application: its route in the proxy file and its webhooks; what stays, and why. " +
          "Changes nothing; sent with a removal, the planHash holds it to that."
      )
  )
  .add(
    HttpApiEndpoint.post("removeApplication", "/api/platform/apps/:uuid/removal").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.body, failures.platform, [
          409,
          "The plan no longer holds, or another process uses the application."
        ])
      )
      .setPath(UuidPath)
      .setPayload(optionalBody(RemovalRequest, {}))
      .addSuccess(Removed)
      .annotate(OpenApi.Summary, "Remove an application with its route and webhooks")
      .annotate(
        OpenApi.Description,
        "Deletes the application, then its route, unless keepRoute is true, and its webhooks; waits for an upsert of " +
          "the application. `stays` lists what could not be removed; a repeat, by uuid or name, removes it."
      )
  )
  .add(
    HttpApiEndpoint.get("listEnvs", "/api/platform/apps/:uuid/envs").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.platform))
      .setPath(UuidPath)
      .addSuccess(Relayed)
      .annotate(OpenApi.Summary, "List environment variables")
      .annotate(
        OpenApi.Description,
        "The application's environment variables: an array of id, key and value. Values are for operators: a viewer " +
          "gets *** for each but HOST_PORT."
      )
  )
  .add(
    HttpApiEndpoint.post("createEnv", "/api/platform/apps/:uuid/envs").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.body, failures.platform))
      .setPath(UuidPath)
      .setPayload(CreateEnv)
      .addSuccess(Relayed)
      .annotate(OpenApi.Summary, "Create an environment variable")
      .annotate(OpenApi.Description, "Gives an application a new environment variable.")
  )
  .add(
    HttpApiEndpoint.post("deployApplication", "/api/platform/apps/:uuid/deploy").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.noBody, failures.platform))
      .setPath(UuidPath)
      .addSuccess(Relayed)
      .annotate(OpenApi.Summary, "Deploy an application")
      .annotate(OpenApi.Description, "Asks the platform to build and start an application, even if nothing changed.")
  )
  .add(
    HttpApiEndpoint.get("listPlatformServers", "/api/platform/servers").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.platform))
      .addSuccess(Relayed)
      .annotate(OpenApi.Summary, "List platform servers")
      .annotate(OpenApi.Description, "The servers that the platform deploys to: an array of uuid, name and ip.")
  )
  .annotate(OpenApi.Title, "Applications")
  .annotate(OpenApi.Description, "The applications of the deployment platform.")
{}
