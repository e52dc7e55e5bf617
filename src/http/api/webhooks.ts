import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { strictQuery } from "../../schema/validation.ts"
import {
  WebhookRequest,
  WebhookSetup,
  WebhookStatus,
  WebhookTeardown,
  WebhookTest,
  WebhookTestRequest
} from "../../schema/webhooks.ts"
import * as failures from "./annotations.ts"
import { annotateFailures, forOperators, forViewers, optionalBody } from "./annotations.ts"

const Request = optionalBody(WebhookRequest, {})

/** Webhooks that deploy on push. */
export class WebhooksApi extends HttpApiGroup.make("webhooks", { topLevel: true })
  .add(
    HttpApiEndpoint.post("setUpWebhooks", "/api/platform/webhooks/setup").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.body, failures.platform, failures.gitHost))
      .setPayload(Request)
      .addSuccess(WebhookSetup)
      .annotate(OpenApi.Summary, "Set up webhooks")
      .annotate(
        OpenApi.Description,
        "Makes pushes deploy one application, or all of them: sets its secret on the platform and creates " +
          "or updates the hook of its repository."
      )
  )
  .add(
    HttpApiEndpoint.del("tearDownWebhooks", "/api/platform/webhooks/teardown").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.body, failures.platform, failures.gitHost))
      .setPayload(Request)
      .addSuccess(WebhookTeardown)
      .annotate(OpenApi.Summary, "Tear down webhooks")
      .annotate(
        OpenApi.Description,
        "Clears the secret of one application, or of all of them, and deletes the hooks that lead to the platform."
      )
  )
  .add(
    HttpApiEndpoint.get("webhookStatus", "/api/platform/webhooks/status").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.platform, failures.gitHost))
      .setUrlParams(
        Schema.Struct({
          deep: Schema.optional(Schema.Literal("true", "false")).annotations({
            description: "true: say what keeps pushes from deploying each application, and what to do about it."
          })
        }).annotations(strictQuery)
      )
      .addSuccess(WebhookStatus)
      .annotate(OpenApi.Summary, "Webhook status")
      .annotate(
        OpenApi.Description,
        "Tells for each application whether pushes deploy it; when asked, what keeps them from it."
      )
  )
  .add(
    HttpApiEndpoint.post("testWebhook", "/api/platform/webhooks/test").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.body, failures.platform, failures.gitHost))
      .setPayload(WebhookTestRequest)
      .addSuccess(WebhookTest)
      .annotate(OpenApi.Summary, "Test a webhook")
      .annotate(
        OpenApi.Description,
        "Makes the git host send a test delivery for one application, and says what came of it. On the " +
          "platform that may start a deployment, as a push does."
      )
  )
  .annotate(OpenApi.Title, "Webhooks")
  .annotate(OpenApi.Description, "Pushes that deploy.")
{}
