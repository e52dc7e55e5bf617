import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { NotifyTested } from "../../schema/notify/Notify.ts"
import { forOperators } from "./annotations/access.ts"
import * as failures from "./annotations/failures.ts"
import { annotateFailures } from "./annotations/failures.ts"

/** Notifications. */
export class NotifyApi extends HttpApiGroup.make("notify", { topLevel: true })
  .add(
    HttpApiEndpoint.post("testNotify", "/api/notify/:name/test").annotateContext(forOperators)
      .annotateContext(
        annotateFailures(failures.noBody, failures.settings, [404, "notify has no target with this name."], [
          502,
          "The receiver cannot be reached, does not answer in time, or refuses the message."
        ])
      )
      .setPath(Schema.Struct({ name: Schema.String.annotations({ description: "The name of a target." }) }))
      .addSuccess(NotifyTested)
      .annotate(OpenApi.Summary, "Test a notification")
      .annotate(
        OpenApi.Description,
        "Tells one target of the setting notify at once, in one attempt, that this is a test."
      )
  )
  .annotate(OpenApi.Title, "Notifications")
  .annotate(OpenApi.Description, "Messages to chats and endpoints about the end of runs and about drift.")
{}
