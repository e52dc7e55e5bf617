import { HttpApiBuilder } from "@effect/platform"
import { testWebhook } from "../../pipelines/webhooks/testWebhook.ts"
import { setUpWebhooks, tearDownWebhooks, webhookStatus } from "../../pipelines/webhooks/webhooks.ts"
import { orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"

export const WebhooksHandlers = HttpApiBuilder.group(BerthApi, "webhooks", (handlers) =>
  handlers
    .handle("setUpWebhooks", ({ payload }) => orApiError(setUpWebhooks(payload)))
    .handle("tearDownWebhooks", ({ payload }) => orApiError(tearDownWebhooks(payload)))
    .handle("webhookStatus", ({ urlParams }) => orApiError(webhookStatus(urlParams.deep === "true")))
    .handle("testWebhook", ({ payload }) => orApiError(testWebhook(payload))))
