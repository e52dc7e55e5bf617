import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import {
  createApplication,
  listApplications,
  relayAnswer,
  showApplication
} from "../../pipelines/applications/applications.ts"
import { listDeclaredEntries } from "../../pipelines/applications/platformFile.ts"
import { nextPort, portEvidence } from "../../pipelines/ports.ts"
import { addRoute, listRoutes, planRoute, removeRoute } from "../../pipelines/routes/routes.ts"
import { makeCompleteRouteDecoder, RouteNamed, RouteRequest } from "../../schema/routes.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { makeErrorBody, orApiError } from "../api/annotations.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { loadOnUse } from "../wire.ts"

const loadRemoval = () => import("../../pipelines/removal.ts")

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
          ({ path }) => orApiError(loadOnUse(loadRemoval, ({ planRemoval }) => planRemoval(path.uuid)))
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

const loadAdopt = () => import("../../pipelines/adoptApplication.ts")
const loadChangelog = () => import("../../pipelines/applications/changelog.ts")
const loadDrift = () => import("../../pipelines/drift.ts")
const loadUpsert = () => import("../../pipelines/upsert/upsert.ts")
const loadUpsertPlan = () => import("../../pipelines/upsert/upsert.ts")
const loadVerify = () => import("../../pipelines/verify.ts")

export const DeclaredHandlers = HttpApiBuilder.group(BerthApi, "declared", (handlers) =>
  handlers
    .handle("drift", ({ payload }) => orApiError(loadOnUse(loadDrift, ({ drift }) => drift(payload))))
    .handle("platformPlan", ({ payload }) =>
      orApiError(loadOnUse(loadUpsertPlan, ({ planUpsert }) => planUpsert(payload))))
    .handle("upsert", ({ payload }) =>
      orApiError(loadOnUse(loadUpsert, ({ upsert }) => upsert(payload))))
    .handle("adopt", ({ payload }) => orApiError(loadOnUse(loadAdopt, ({ adopt }) => adopt(payload))))
    .handle("verify", ({ payload }) => orApiError(loadOnUse(loadVerify, ({ verify }) => verify(payload))))
    .handle("platformConfig", ({ urlParams: { path } }) =>
      listDeclaredEntries(path).pipe(Effect.catchTag("PlatformFileMissing", makeErrorBody), orApiError))
    .handle("changelog", ({ urlParams }) =>
      orApiError(loadOnUse(loadChangelog, ({ readChangelog }) =>
        readChangelog(urlParams)))))

const loadWebhooks = () => import("../../pipelines/webhooks/webhooks.ts")

export const WebhooksHandlers = HttpApiBuilder.group(BerthApi, "webhooks", (handlers) =>
  handlers
    .handle("setUpWebhooks", ({ payload }) =>
      orApiError(loadOnUse(loadWebhooks, ({ setUpWebhooks }) => setUpWebhooks(payload))))
    .handle("tearDownWebhooks", ({ payload }) =>
      orApiError(loadOnUse(loadWebhooks, ({ tearDownWebhooks }) =>
        tearDownWebhooks(payload))))
    .handle("webhookStatus", ({ urlParams }) =>
      orApiError(loadOnUse(loadWebhooks, ({ webhookStatus }) =>
        webhookStatus(urlParams.deep === "true"))))
    .handle("testWebhook", ({ payload }) =>
      orApiError(loadOnUse(loadWebhooks, ({ testWebhook }) =>
        testWebhook(payload)))))

const readRoute = makeCompleteRouteDecoder(RouteRequest)
const readName = makeCompleteRouteDecoder(RouteNamed)

export const RoutesHandlers = HttpApiBuilder.group(BerthApi, "routes", (handlers) =>
  handlers
    .handle("nextPort", ({ urlParams }) => orApiError(urlParams.evidence === "true" ? portEvidence : nextPort))
    .handle("listRoutes", () => orApiError(listRoutes))
    .handle("planRoute", ({ payload }) => orApiError(planRoute(payload)))
    .handle("addRoute", ({ payload }) =>
      readRoute(payload).pipe(
        Effect.flatMap(addRoute),
        Effect.catchTag("RouteFieldsMissing", makeErrorBody),
        orApiError
      ))
    .handle("removeRoute", ({ payload }) =>
      readName(payload).pipe(
        Effect.flatMap(removeRoute),
        Effect.catchTag("RouteFieldsMissing", makeErrorBody),
        orApiError
      )))
