import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Adoption, AdoptRequest, Verification } from "../../schema/applications.ts"
import {
  AppRequest,
  ChangelogPage,
  ChangelogQuery,
  Drift,
  PlatformPlan,
  RawEntry,
  UpsertRequest,
  UpsertResult
} from "../../schema/upsert.ts"
import { strictQuery } from "../../schema/validation.ts"
import * as failures from "./annotations.ts"
import { annotateFailures, ErrorBody, forOperators, forViewers, startsRun } from "./annotations.ts"

/** The applications as projects declare them. */
export class DeclaredApi extends HttpApiGroup.make("declared", { topLevel: true })
  .add(
    HttpApiEndpoint.post("drift", "/api/platform/drift").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.body, failures.platform, failures.project))
      .setPayload(AppRequest)
      .addSuccess(Drift)
      .annotate(OpenApi.Summary, "Drift")
      .annotate(
        OpenApi.Description,
        "Tells how an application on the platform differs from what its project's platform.json declares."
      )
  )
  .add(
    HttpApiEndpoint.post("platformPlan", "/api/platform/plan").annotateContext(forViewers)
      .annotateContext(
        annotateFailures(
          failures.body,
          failures.platform,
          failures.project,
          failures.gitHost,
          failures.busy,
          failures.proxy,
          [
            500,
            "Too little can be read to plan."
          ]
        )
      )
      .setPayload(AppRequest)
      .addSuccess(PlatformPlan)
      .annotate(OpenApi.Summary, "Plan an upsert")
      .annotate(
        OpenApi.Description,
        "Tells what an upsert would change on the platform, in the proxy file and on the git host, step by step, with a " +
          "hash that an upsert can be held to. Changes nothing anywhere."
      )
  )
  .add(
    HttpApiEndpoint.post("upsert", "/api/platform/upsert").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.body, failures.platform, failures.project, failures.run, [
          500,
          "A step failed; what earlier steps did stays."
        ], failures.planMoved)
      )
      .annotateContext(startsRun)
      .setPayload(UpsertRequest)
      .addSuccess(UpsertResult)
      .annotate(OpenApi.Summary, "Upsert")
      .annotate(
        OpenApi.Description,
        "Creates or updates an application as its project's platform.json declares it: build, port, " +
          "proxy route, deployment and webhook."
      )
  )
  .add(
    HttpApiEndpoint.post("adopt", "/api/platform/adopt").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.body, failures.platform, failures.project, [
          409,
          "The project declares an application of this name already, or another process works on the same."
        ], [422, "The application cannot be written as an entry."])
      )
      .setPayload(AdoptRequest)
      .addSuccess(Adoption)
      .annotate(OpenApi.Summary, "Adopt an application")
      .annotate(
        OpenApi.Description,
        "Writes an application of the platform as an entry of a project's platform.json, so that nothing drifts; " +
          "409 when the file has an entry of its name and replace is not true."
      )
  )
  .add(
    HttpApiEndpoint.post("verify", "/api/platform/verify").annotateContext(forViewers)
      .annotateContext(
        annotateFailures(failures.body, failures.project, failures.settings, [
          422,
          "The project declares no application whose way could be followed."
        ])
      )
      .setPayload(AppRequest)
      .addSuccess(Verification)
      .annotate(OpenApi.Summary, "Verify an application")
      .annotate(
        OpenApi.Description,
        "Follows the way to a declared application: the platform says it runs, its port takes connections from the " +
          "proxy's server, the proxy file leads its domain there, and HTTPS on the domain answers."
      )
  )
  .add(
    HttpApiEndpoint.get("platformConfig", "/api/platform/config").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.project))
      .setUrlParams(
        Schema.Struct({
          path: Schema.NonEmptyString.annotations({
            description: "The absolute path of the project's directory.",
            message: () => "must not be empty"
          })
        }).annotations(strictQuery)
      )
      .addSuccess(Schema.Union(Schema.Array(RawEntry), ErrorBody))
      .annotate(OpenApi.Summary, "Read platform.json")
      .annotate(OpenApi.Description, "The entries of a project's platform.json; an `error` when the project has none.")
  )
  .add(
    HttpApiEndpoint.get("changelog", "/api/platform/changelog").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.project))
      .setUrlParams(ChangelogQuery)
      .addSuccess(ChangelogPage)
      .annotate(OpenApi.Summary, "Read the changelog")
      .annotate(
        OpenApi.Description,
        "Changes that upserts made to the applications of a project, as its platform.changelog.json keeps it, newest first."
      )
  )
  .annotate(OpenApi.Title, "Declared applications")
  .annotate(OpenApi.Description, "The applications as projects declare them in platform.json.")
{}
