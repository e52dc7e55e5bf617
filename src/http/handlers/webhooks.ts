import { HttpApiBuilder } from "@effect/platform"
import { orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { loadOnUse } from "../wire/loadOnUse.ts"

const loadTest = () => import("../../pipelines/webhooks/testWebhook.ts")
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
      orApiError(loadOnUse(loadTest, ({ testWebhook }) =>
        testWebhook(payload)))))
