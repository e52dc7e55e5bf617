import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { AppRequest, Drift } from "../../schema/Drift.ts"
import { RawEntry } from "../../schema/PlatformFile.ts"
import { UpsertResult } from "../../schema/Upsert.ts"
import { ErrorBody } from "./ApiError.ts"

/** Keeping applications as their projects declare them. */
export class PipelinesApi extends HttpApiGroup.make("pipelines", { topLevel: true })
  .add(
    HttpApiEndpoint.post("drift", "/api/platform/drift")
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
    HttpApiEndpoint.post("upsert", "/api/platform/upsert")
      .setPayload(AppRequest)
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
    HttpApiEndpoint.get("platformConfig", "/api/platform/config")
      .setUrlParams(
        Schema.Struct({
          path: Schema.NonEmptyString.annotations({
            description: "The absolute path of the project's directory.",
            message: () => "must not be empty"
          })
        })
      )
      .addSuccess(Schema.Union(Schema.Array(RawEntry), ErrorBody))
      .annotateContext(
        OpenApi.annotations({
          summary: "Read platform.json",
          description: "The entries of a project's platform.json; an `error` when the project has none."
        })
      )
  )
  .annotate(OpenApi.Title, "Pipelines")
{}
