import { Schema } from "effect"
import { didYouMean } from "./nearest.ts"
import { strictBody } from "./strict.ts"

/** Which applications a webhook request is about: all of them when no name is given. */
export const WebhookRequest = Schema.Struct({
  appName: Schema.optional(Schema.NullOr(Schema.String)).annotations({
    description: "The exact name of an application; all of them when it is left out."
  })
}).annotations({ identifier: "WebhookRequest", ...strictBody })
export interface WebhookRequest extends Schema.Schema.Type<typeof WebhookRequest> {}

/** What was done for one application: on the platform, and on the git host. */
export const WebhookOutcome = Schema.Struct({
  app: Schema.String,
  uuid: Schema.String,
  platform: Schema.String,
  githost: Schema.String
}).annotations({ identifier: "WebhookOutcome" })
export interface WebhookOutcome extends Schema.Schema.Type<typeof WebhookOutcome> {}

export const WebhookSetup = Schema.Struct({
  webhookUrl: Schema.String,
  appsConfigured: Schema.Int,
  results: Schema.Array(WebhookOutcome)
}).annotations({ identifier: "WebhookSetup" })
export interface WebhookSetup extends Schema.Schema.Type<typeof WebhookSetup> {}

export const WebhookTeardown = Schema.Struct({
  appsConfigured: Schema.Int,
  results: Schema.Array(WebhookOutcome)
}).annotations({ identifier: "WebhookTeardown" })
export interface WebhookTeardown extends Schema.Schema.Type<typeof WebhookTeardown> {}

/** Whether pushes reach one application. `unknown` names what the platform keeps to itself, and why. */
export const WebhookState = Schema.Struct({
  app: Schema.String,
  uuid: Schema.String,
  platformSecretSet: Schema.Boolean,
  githostWebhookActive: Schema.Boolean,
  repo: Schema.NullOr(Schema.String),
  unknown: Schema.optional(Schema.String)
}).annotations({ identifier: "WebhookState" })
export interface WebhookState extends Schema.Schema.Type<typeof WebhookState> {}

export const WebhookStatus = Schema.Struct({
  webhookUrl: Schema.String,
  results: Schema.Array(WebhookState)
}).annotations({ identifier: "WebhookStatus" })
export interface WebhookStatus extends Schema.Schema.Type<typeof WebhookStatus> {}

/** No application of the platform has the name that was asked for. */
export class ApplicationUnknown extends Schema.TaggedError<ApplicationUnknown>()("ApplicationUnknown", {
  appName: Schema.String,
  names: Schema.Array(Schema.String)
}) {
  readonly status = 404
  override get message() {
    const shown = this.appName.length > 100 ? `${this.appName.slice(0, 100)}…` : this.appName
    return `The platform has no application named ${JSON.stringify(shown)}, and nothing was changed.` +
      didYouMean(this.appName, this.names)
  }
}
