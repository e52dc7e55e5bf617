import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Adoption, AdoptRequest } from "../../schema/Adopt.ts"
import { ChangelogPage, ChangelogQuery } from "../../schema/Changelog.ts"
import { CreateApp, CreateEnv } from "../../schema/CreateApp.ts"
import { text } from "../../schema/described.ts"
import { AppRequest, Drift } from "../../schema/Drift.ts"
import { PlatformApp, PlatformRecordBody } from "../../schema/PlatformApp.ts"
import { RawEntry } from "../../schema/PlatformFile.ts"
import { PlatformPlan } from "../../schema/PlatformPlan.ts"
import { Removal, RemovalRequest, Removed } from "../../schema/Removal.ts"
import { strictQuery } from "../../schema/strict.ts"
import { UpsertRequest, UpsertResult } from "../../schema/Upsert.ts"
import { Verification } from "../../schema/Verify.ts"
import { forOperators, forViewers } from "./access.ts"
import { ErrorBody } from "./ApiError.ts"
import { JsonObject, optionalBody, Relayed, UuidPath } from "./relayed.ts"
import { startsRun } from "./startsRun.ts"

const help = (summary: string, description: string) => OpenApi.annotations({ summary, description })

/** The applications on the deployment platform, and as their projects declare them. */
export class ApplicationsApi extends HttpApiGroup.make("applications", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listApplications", "/api/platform/apps").annotateContext(forViewers)
      .addSuccess(Schema.Array(PlatformApp))
      .annotateContext(
        help(
          "List applications",
          "Every application of the platform with its port and its environment variables; their values are for operators."
        )
      )
  )
  .add(
    HttpApiEndpoint.post("createApplication", "/api/platform/apps").annotateContext(forOperators)
      .setPayload(CreateApp)
      .addSuccess(Relayed)
      .annotateContext(
        help("Create an application", "Creates an application from a private repository; does not deploy it.")
      )
  )
  .add(
    HttpApiEndpoint.get("findApplication", "/api/platform/apps/find/:name").annotateContext(forViewers)
      .setPath(Schema.Struct({ name: text("The exact name of the application.", "hello") }))
      .addSuccess(Schema.NullOr(PlatformRecordBody))
      .annotateContext(help("Find an application", "The application with exactly this name, or null."))
  )
  .add(
    HttpApiEndpoint.patch("updateApplication", "/api/platform/apps/:uuid").annotateContext(forOperators)
      .setPath(UuidPath)
      .setPayload(JsonObject)
      .addSuccess(Relayed)
      .annotateContext(help("Change an application", "Hands these fields on to the platform as they are."))
  )
  .add(
    HttpApiEndpoint.del("deleteApplication", "/api/platform/apps/:uuid").annotateContext(forOperators)
      .setPath(UuidPath)
      .addSuccess(Relayed)
      .annotateContext(
        help("Delete an application", "Deletes an application from the platform; its route and its webhook stay.")
      )
  )
  .add(
    HttpApiEndpoint.get("planRemoval", "/api/platform/apps/:uuid/removal").annotateContext(forViewers)
      .setPath(UuidPath)
      .addSuccess(Removal)
      .annotateContext(
        help(
          "Plan the removal of an application",
          "What would go with the application: its route in the proxy file and its webhooks; what stays, and why. " +
            "Changes nothing."
        )
      )
  )
  .add(
    HttpApiEndpoint.post("removeApplication", "/api/platform/apps/:uuid/removal").annotateContext(forOperators)
      .setPath(UuidPath)
      .setPayload(optionalBody(RemovalRequest, {}))
      .addSuccess(Removed)
      .annotateContext(
        help(
          "Remove an application with its route and webhooks",
          "Deletes the application, then its route, unless keepRoute is true, and its webhooks. What could not be " +
            "removed is told under stays."
        )
      )
  )
  .add(
    HttpApiEndpoint.get("listEnvs", "/api/platform/apps/:uuid/envs").annotateContext(forViewers)
      .setPath(UuidPath)
      .addSuccess(Relayed)
      .annotateContext(
        help(
          "List environment variables",
          "The application's environment variables: an array of id, key and value. Values are for operators: a viewer " +
            "gets *** for each but HOST_PORT."
        )
      )
  )
  .add(
    HttpApiEndpoint.post("createEnv", "/api/platform/apps/:uuid/envs").annotateContext(forOperators)
      .setPath(UuidPath)
      .setPayload(CreateEnv)
      .addSuccess(Relayed)
      .annotateContext(help("Create an environment variable", "Gives an application a new environment variable."))
  )
  .add(
    HttpApiEndpoint.post("deployApplication", "/api/platform/apps/:uuid/deploy").annotateContext(forOperators)
      .setPath(UuidPath)
      .addSuccess(Relayed)
      .annotateContext(
        help("Deploy an application", "Asks the platform to build and start an application, even if nothing changed.")
      )
  )
  .add(
    HttpApiEndpoint.get("listPlatformServers", "/api/platform/servers").annotateContext(forViewers)
      .addSuccess(Relayed)
      .annotateContext(
        help("List platform servers", "The servers that the platform deploys to: an array of uuid, name and ip.")
      )
  )
  .add(
    HttpApiEndpoint.post("drift", "/api/platform/drift").annotateContext(forViewers)
      .setPayload(AppRequest)
      .addSuccess(Drift)
      .annotateContext(
        OpenApi.annotations({
          summary: "Drift",
          description:
            "Tells how an application on the platform differs from what its project's platform.json declares."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("platformPlan", "/api/platform/plan").annotateContext(forViewers)
      .setPayload(AppRequest)
      .addSuccess(PlatformPlan)
      .annotateContext(
        help(
          "Plan an upsert",
          "Tells what an upsert would change on the platform, in the proxy file and on the git host, step by step, with a " +
            "hash that an upsert can be held to. Changes nothing anywhere."
        )
      )
  )
  .add(
    HttpApiEndpoint.post("upsert", "/api/platform/upsert").annotateContext(forOperators)
      .annotateContext(startsRun)
      .setPayload(UpsertRequest)
      .addSuccess(UpsertResult)
      .annotateContext(
        OpenApi.annotations({
          summary: "Upsert",
          description: "Creates or updates an application as its project's platform.json declares it: build, port, " +
            "proxy route, deployment and webhook."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("adopt", "/api/platform/adopt").annotateContext(forOperators)
      .setPayload(AdoptRequest)
      .addSuccess(Adoption)
      .annotateContext(
        help(
          "Adopt an application",
          "Writes an application of the platform as an entry of a project's platform.json, so that nothing drifts; " +
            "409 when the file has an entry of its name and replace is not true."
        )
      )
  )
  .add(
    HttpApiEndpoint.post("verify", "/api/platform/verify").annotateContext(forViewers)
      .setPayload(AppRequest)
      .addSuccess(Verification)
      .annotateContext(
        help(
          "Verify an application",
          "Follows the way to a declared application: the platform says it runs, its port takes connections from the " +
            "proxy's server, the proxy file leads its domain there, and HTTPS on the domain answers."
        )
      )
  )
  .add(
    HttpApiEndpoint.get("platformConfig", "/api/platform/config").annotateContext(forViewers)
      .setUrlParams(
        Schema.Struct({
          path: Schema.NonEmptyString.annotations({
            description: "The absolute path of the project's directory.",
            message: () => "must not be empty"
          })
        }).annotations(strictQuery)
      )
      .addSuccess(Schema.Union(Schema.Array(RawEntry), ErrorBody))
      .annotateContext(
        OpenApi.annotations({
          summary: "Read platform.json",
          description: "The entries of a project's platform.json; an `error` when the project has none."
        })
      )
  )
  .add(
    HttpApiEndpoint.get("changelog", "/api/platform/changelog").annotateContext(forViewers)
      .setUrlParams(ChangelogQuery)
      .addSuccess(ChangelogPage)
      .annotateContext(
        OpenApi.annotations({
          summary: "Read the changelog",
          description:
            "What upserts did to the applications of a project, as its platform.changelog.json keeps it, newest first."
        })
      )
  )
  .annotate(OpenApi.Title, "Applications")
  .annotate(OpenApi.Description, "The applications of the deployment platform, and as projects declare them.")
{}
