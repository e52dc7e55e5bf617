import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Adoption, AdoptRequest } from "../../schema/applications/Adopt.ts"
import { ChangelogPage, ChangelogQuery } from "../../schema/applications/Changelog.ts"
import { CreateApp, CreateEnv } from "../../schema/applications/CreateApp.ts"
import { AppRequest, Drift } from "../../schema/applications/Drift.ts"
import { PlatformApp, PlatformRecordBody } from "../../schema/applications/PlatformApp.ts"
import { RawEntry } from "../../schema/applications/PlatformFile.ts"
import { PlatformPlan } from "../../schema/applications/PlatformPlan.ts"
import { Removal, RemovalRequest, Removed } from "../../schema/applications/Removal.ts"
import { UpsertRequest, UpsertResult } from "../../schema/applications/Upsert.ts"
import { Verification } from "../../schema/applications/Verify.ts"
import { text } from "../../schema/words/described.ts"
import { strictQuery } from "../../schema/words/strict.ts"
import { forOperators, forViewers } from "./annotations/access.ts"
import { ErrorBody } from "./annotations/ApiError.ts"
import * as failures from "./annotations/failures.ts"
import { failsWith } from "./annotations/failures.ts"
import { JsonObject, optionalBody, Relayed, UuidPath } from "./annotations/relayed.ts"
import { startsRun } from "./annotations/startsRun.ts"

const help = (summary: string, description: string) => OpenApi.annotations({ summary, description })

/** The applications on the deployment platform, and as their projects declare them. */
export class ApplicationsApi extends HttpApiGroup.make("applications", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listApplications", "/api/platform/apps").annotateContext(forViewers)
      .annotateContext(failsWith(failures.platform))
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
      .annotateContext(failsWith(failures.body, failures.platform))
      .setPayload(CreateApp)
      .addSuccess(Relayed)
      .annotateContext(
        help("Create an application", "Creates an application from a private repository; does not deploy it.")
      )
  )
  .add(
    HttpApiEndpoint.get("findApplication", "/api/platform/apps/find/:name").annotateContext(forViewers)
      .annotateContext(failsWith(failures.platform))
      .setPath(Schema.Struct({ name: text("The exact name of the application.", "hello") }))
      .addSuccess(Schema.NullOr(PlatformRecordBody))
      .annotateContext(help("Find an application", "The application with exactly this name, or null."))
  )
  .add(
    HttpApiEndpoint.patch("updateApplication", "/api/platform/apps/:uuid").annotateContext(forOperators)
      .annotateContext(failsWith(failures.body, failures.platform))
      .setPath(UuidPath)
      .setPayload(JsonObject)
      .addSuccess(Relayed)
      .annotateContext(help("Change an application", "Hands these fields on to the platform as they are."))
  )
  .add(
    HttpApiEndpoint.del("deleteApplication", "/api/platform/apps/:uuid").annotateContext(forOperators)
      .annotateContext(failsWith(failures.noBody, failures.platform))
      .setPath(UuidPath)
      .addSuccess(Relayed)
      .annotateContext(
        help("Delete an application", "Deletes an application from the platform; its route and its webhook stay.")
      )
  )
  .add(
    HttpApiEndpoint.get("planRemoval", "/api/platform/apps/:uuid/removal").annotateContext(forViewers)
      .annotateContext(failsWith(failures.platform))
      .setPath(UuidPath)
      .addSuccess(Removal)
      .annotateContext(
        help(
          "Plan the removal of an application",
          "Parts that would go with the application: its route in the proxy file and its webhooks; what stays, and why. " +
            "Changes nothing; sent with a removal, the planHash holds it to that."
        )
      )
  )
  .add(
    HttpApiEndpoint.post("removeApplication", "/api/platform/apps/:uuid/removal").annotateContext(forOperators)
      .annotateContext(
        failsWith(failures.body, failures.platform, [
          409,
          "The plan no longer holds, or another process uses the application."
        ])
      )
      .setPath(UuidPath)
      .setPayload(optionalBody(RemovalRequest, {}))
      .addSuccess(Removed)
      .annotateContext(
        help(
          "Remove an application with its route and webhooks",
          "Deletes the application, then its route, unless keepRoute is true, and its webhooks; waits for an upsert of " +
            "the application. What could not be removed is told under stays; a repeat, by uuid or name, removes it."
        )
      )
  )
  .add(
    HttpApiEndpoint.get("listEnvs", "/api/platform/apps/:uuid/envs").annotateContext(forViewers)
      .annotateContext(failsWith(failures.platform))
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
      .annotateContext(failsWith(failures.body, failures.platform))
      .setPath(UuidPath)
      .setPayload(CreateEnv)
      .addSuccess(Relayed)
      .annotateContext(help("Create an environment variable", "Gives an application a new environment variable."))
  )
  .add(
    HttpApiEndpoint.post("deployApplication", "/api/platform/apps/:uuid/deploy").annotateContext(forOperators)
      .annotateContext(failsWith(failures.noBody, failures.platform))
      .setPath(UuidPath)
      .addSuccess(Relayed)
      .annotateContext(
        help("Deploy an application", "Asks the platform to build and start an application, even if nothing changed.")
      )
  )
  .add(
    HttpApiEndpoint.get("listPlatformServers", "/api/platform/servers").annotateContext(forViewers)
      .annotateContext(failsWith(failures.platform))
      .addSuccess(Relayed)
      .annotateContext(
        help("List platform servers", "The servers that the platform deploys to: an array of uuid, name and ip.")
      )
  )
  .add(
    HttpApiEndpoint.post("drift", "/api/platform/drift").annotateContext(forViewers)
      .annotateContext(failsWith(failures.body, failures.platform, failures.project))
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
      .annotateContext(
        failsWith(failures.body, failures.platform, failures.project, failures.gitHost, failures.busy, failures.proxy, [
          500,
          "Too little can be read to plan."
        ])
      )
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
      .annotateContext(
        failsWith(failures.body, failures.platform, failures.project, failures.run, [
          500,
          "A step failed; what earlier steps did stays."
        ], [
          409,
          "The plan no longer holds."
        ])
      )
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
      .annotateContext(
        failsWith(failures.body, failures.platform, failures.project, [
          409,
          "The project declares an application of this name already, or another process works on the same."
        ], [422, "The application cannot be written as an entry."])
      )
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
      .annotateContext(
        failsWith(failures.body, failures.project, failures.settings, [
          422,
          "The project declares no application whose way could be followed."
        ])
      )
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
      .annotateContext(failsWith(failures.project))
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
      .annotateContext(failsWith(failures.project))
      .setUrlParams(ChangelogQuery)
      .addSuccess(ChangelogPage)
      .annotateContext(
        OpenApi.annotations({
          summary: "Read the changelog",
          description:
            "Changes that upserts made to the applications of a project, as its platform.changelog.json keeps it, newest first."
        })
      )
  )
  .annotate(OpenApi.Title, "Applications")
  .annotate(OpenApi.Description, "The applications of the deployment platform, and as projects declare them.")
{}
