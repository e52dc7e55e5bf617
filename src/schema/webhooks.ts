import { Schema } from "effect"
import type { Unsendable } from "./basics.ts"
import { flag, strictBody, text, textOrNull } from "./validation.ts"
import { suggestNearest } from "./words.ts"

/** A repository of the git host. */
export interface Repository {
  readonly owner: string
  readonly name: string
}

/** Webhook of a repository. */
export const GitHook = Schema.Struct({
  id: Schema.Number,
  active: Schema.Boolean,
  url: Schema.String,
  /** Branch filter: empty for all branches; absent when the git host does not report it. */
  branchFilter: Schema.optional(Schema.String),
  /** Events that trigger a delivery; absent when the git host does not report them. */
  events: Schema.optional(Schema.Array(Schema.String)),
  /** Kind of receiver and name, in the words of the git host; absent when it does not report them. */
  type: Schema.optional(Schema.String),
  name: Schema.optional(Schema.String),
  /** Authorization header of its deliveries. */
  authorization: Schema.optional(Schema.RedactedFromSelf(Schema.String)),
  /** Properties that an update loses, as the git host neither keeps nor reports them. */
  lost: Schema.optional(Schema.Array(Schema.String))
}).annotations({ identifier: "GitHook" })
export interface GitHook extends Schema.Schema.Type<typeof GitHook> {}

/** The git host refused a call. */
export class GitHostRefused extends Schema.TaggedError<GitHostRefused>()("GitHostRefused", {
  upstream: Schema.Number,
  words: Schema.String
}) {
  readonly status = 502
  override get message() {
    return `Git host API ${this.upstream}: ${this.words}`
  }
}

/** The git host could not be reached, timed out, or sent an invalid response. */
export class GitHostUnavailable extends Schema.TaggedError<GitHostUnavailable>()("GitHostUnavailable", {
  call: Schema.String,
  reason: Schema.String
}) {
  readonly status = 502
  override get message() {
    return `Git host API: ${this.call}: ${this.reason}`
  }
}

export type GitHostFailure = GitHostRefused | GitHostUnavailable | Unsendable

/** Applications of a webhook request; all by default. */
export const WebhookRequest = Schema.Struct({
  appName: Schema.optional(Schema.NullOr(Schema.String)).annotations({
    description: "The exact name of an application; all of them when it is left out."
  })
}).annotations({ identifier: "WebhookRequest", ...strictBody })
export interface WebhookRequest extends Schema.Schema.Type<typeof WebhookRequest> {}

/** Changes for one application, on the platform and on the git host. */
export const WebhookOutcome = Schema.Struct({
  app: text("The name of the application.", "hello"),
  uuid: text("Its uuid on the platform.", "a1b2c3d4"),
  platform: text("Change on the platform, or why there is none."),
  githost: text("Change on the git host, or why there is none.")
}).annotations({ identifier: "WebhookOutcome" })
export interface WebhookOutcome extends Schema.Schema.Type<typeof WebhookOutcome> {}

const webhookUrl = text(
  "Where the git host delivers push events to.",
  "https://platform.example.com/webhooks/source/gitea/events/manual"
)
const configured = Schema.Int.annotations({ description: "For how many applications all of it was done." })
const outcomes = Schema.Array(WebhookOutcome).annotations({ description: "Outcome for each application." })

export const WebhookSetup = Schema.Struct({
  webhookUrl,
  appsConfigured: configured,
  results: outcomes
}).annotations({ identifier: "WebhookSetup" })
export interface WebhookSetup extends Schema.Schema.Type<typeof WebhookSetup> {}

export const WebhookTeardown = Schema.Struct({
  appsConfigured: configured,
  results: outcomes
}).annotations({ identifier: "WebhookTeardown" })
export interface WebhookTeardown extends Schema.Schema.Type<typeof WebhookTeardown> {}

/** Problem that prevents pushes from deploying an application, with its remedy. */
export const WebhookFinding = Schema.Struct({
  finding: text("Problem in one sentence.", "the hook is not active"),
  fix: text("Remedy.", "set up the webhook again")
}).annotations({
  identifier: "WebhookFinding"
})
export interface WebhookFinding extends Schema.Schema.Type<typeof WebhookFinding> {}

/** Webhook state of one application. `unknown` names values that the platform does not disclose, and the reason. */
export const WebhookState = Schema.Struct({
  app: text("The name of the application.", "hello"),
  uuid: text("Its uuid on the platform.", "a1b2c3d4"),
  platformSecretSet: flag("True when the platform has the secret that push events are signed with."),
  githostWebhookActive: flag("True when its repository has an active hook that leads to the platform."),
  repo: textOrNull("The name of its repository; null when the git host has none of it.", "hello"),
  unknown: Schema.optional(Schema.String).annotations({
    description: "Facts that the platform does not tell, and why; absent when all are known."
  }),
  findings: Schema.optional(Schema.Array(WebhookFinding)).annotations({
    description: "With deep: what keeps pushes from deploying it, as far as platform and git host tell."
  }),
  untold: Schema.optional(Schema.Array(Schema.String)).annotations({
    description: "With deep: what the git host does not tell of the hook, and where else to look."
  })
}).annotations({ identifier: "WebhookState" })
export interface WebhookState extends Schema.Schema.Type<typeof WebhookState> {}

export const WebhookStatus = Schema.Struct({
  webhookUrl,
  results: Schema.Array(WebhookState).annotations({ description: "A line for each application." })
}).annotations({ identifier: "WebhookStatus" })
export interface WebhookStatus extends Schema.Schema.Type<typeof WebhookStatus> {}

/** The platform has no application of the requested name. */
export class ApplicationUnknown extends Schema.TaggedError<ApplicationUnknown>()("ApplicationUnknown", {
  appName: Schema.String,
  names: Schema.Array(Schema.String)
}) {
  readonly status = 404
  override get message() {
    const shown = this.appName.length > 100 ? `${this.appName.slice(0, 100)}…` : this.appName
    return `The platform has no application named ${JSON.stringify(shown)}, and nothing was changed.` +
      suggestNearest(this.appName, this.names)
  }
}

/** Application to test the webhook of. */
export const WebhookTestRequest = Schema.Struct({
  appName: Schema.String.annotations({ description: "The exact name of an application." })
}).annotations({ identifier: "WebhookTestRequest", ...strictBody })
export interface WebhookTestRequest extends Schema.Schema.Type<typeof WebhookTestRequest> {}

/** Result of a test delivery. */
export const WebhookTest = Schema.Struct({
  app: text("The name of the application.", "hello"),
  uuid: text("Its uuid on the platform.", "a1b2c3d4"),
  repo: textOrNull("The name of its repository; null when the git host has none of it.", "hello"),
  hook: Schema.NullOr(Schema.Number).annotations({ description: "The id of the hook that was tried." }),
  sent: Schema.Boolean.annotations({ description: "True when the git host took the test delivery on." }),
  detail: text("Outcome in words, and what to look at.")
}).annotations({ identifier: "WebhookTest" })
export interface WebhookTest extends Schema.Schema.Type<typeof WebhookTest> {}
