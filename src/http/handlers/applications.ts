import { HttpApiBuilder } from "@effect/platform"
import { Effect, Option } from "effect"
import { adopt } from "../../pipelines/adopt/adopt.ts"
import { createApplication, findApplication, listApplications } from "../../pipelines/applications/applications.ts"
import { readPlatformFile } from "../../pipelines/applications/platformFile.ts"
import { drift } from "../../pipelines/drift/drift.ts"
import { plan } from "../../pipelines/plan/plan.ts"
import { upsert } from "../../pipelines/upsert/upsert.ts"
import { quoted } from "../../schema/quoted.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { orApiError } from "../api/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"

const noFile = (path: string) => ({
  error: `No platform.json found in ${quoted(path)}: path is the absolute path of the project's directory`
})

export const ApplicationsHandlers = HttpApiBuilder.group(
  BerthApi,
  "applications",
  (handlers) =>
    Effect.gen(function*() {
      const platform = yield* Platform
      return handlers
        .handle("listApplications", () => orApiError(listApplications()))
        .handle("createApplication", ({ payload }) => orApiError(createApplication(payload)))
        .handle("findApplication", ({ path }) =>
          orApiError(
            Effect.map(findApplication(path.name), Option.match({ onNone: () => null, onSome: ({ raw }) => raw }))
          ))
        .handle("updateApplication", ({ path, payload }) => orApiError(platform.updateApplication(path.uuid, payload)))
        .handle("deleteApplication", ({ path }) => orApiError(platform.deleteApplication(path.uuid)))
        .handle("listEnvs", ({ path }) => orApiError(platform.envsBody(path.uuid)))
        .handle(
          "createEnv",
          ({ path, payload }) => orApiError(platform.createEnv(path.uuid, payload.key, payload.value))
        )
        .handle(
          "deployApplication",
          ({ path }) => orApiError(Effect.map(platform.deploy(path.uuid), ({ body }) => body))
        )
        .handle("listPlatformServers", () => orApiError(platform.serversBody))
        .handle("drift", ({ payload }) => orApiError(drift(payload)))
        .handle("platformPlan", ({ payload }) => orApiError(plan(payload)))
        .handle("upsert", ({ payload }) => orApiError(upsert(payload)))
        .handle("adopt", ({ payload }) => orApiError(adopt(payload)))
        .handle("platformConfig", ({ urlParams: { path } }) =>
          orApiError(
            Effect.map(
              readPlatformFile(path),
              Option.match({ onNone: () => noFile(path), onSome: (apps) => apps.map(({ raw }) => raw) })
            )
          ))
    })
)
