import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { createApplication, listApplications, showApplication } from "../../pipelines/applications/applications.ts"
import { relayAnswer } from "../../pipelines/applications/disclosure.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { loadOnUse } from "../wire/loadOnUse.ts"

const loadPlan = () => import("../../pipelines/removal/planRemoval.ts")
const loadRemoval = () => import("../../pipelines/removal/removeApplication.ts")

export const ApplicationsHandlers = HttpApiBuilder.group(
  BerthApi,
  "applications",
  (handlers) =>
    Effect.gen(function*() {
      const platform = yield* Platform
      return handlers
        .handle("listApplications", () => orApiError(listApplications()))
        .handle("createApplication", ({ payload }) => orApiError(createApplication(payload)))
        .handle("findApplication", ({ path }) => orApiError(showApplication(path.name)))
        .handle(
          "updateApplication",
          ({ path, payload }) => orApiError(relayAnswer(platform.updateApplication(path.uuid, payload)))
        )
        .handle("deleteApplication", ({ path }) => orApiError(relayAnswer(platform.deleteApplication(path.uuid))))
        .handle(
          "planRemoval",
          ({ path }) => orApiError(loadOnUse(loadPlan, ({ planRemoval }) => planRemoval(path.uuid)))
        )
        .handle(
          "removeApplication",
          ({ path, payload }) =>
            orApiError(loadOnUse(loadRemoval, ({ removeApplication }) => removeApplication(path.uuid, payload)))
        )
        .handle("listEnvs", ({ path }) => orApiError(relayAnswer(platform.envsBody(path.uuid))))
        .handle(
          "createEnv",
          ({ path, payload }) => orApiError(relayAnswer(platform.createEnv(path.uuid, payload.key, payload.value)))
        )
        .handle(
          "deployApplication",
          ({ path }) => orApiError(relayAnswer(Effect.map(platform.deploy(path.uuid), ({ body }) => body)))
        )
        .handle("listPlatformServers", () => orApiError(relayAnswer(platform.serversBody)))
    })
)
