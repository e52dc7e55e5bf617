import { Schema } from "effect"
import { planAgain, PlanHash } from "../basics/planHash.ts"
import { Step } from "../runs/Step.ts"
import { field, flag, text } from "../words/describedFields.ts"
import { appendSentence, cut, quoteInput } from "../words/quoted.ts"
import { strictBody } from "../words/strict.ts"
import { ChangelogEntry } from "./Changelog.ts"
import { AppRequest } from "./Drift.ts"

/** Selects the application to upsert, and the plan that binds the upsert. */
export const UpsertRequest = Schema.Struct({
  ...AppRequest.fields,
  planHash: Schema.optional(Schema.NullOr(PlanHash)).annotations({
    description: "The planHash of a plan: where something has moved since, nothing is changed and the answer is a 409."
  })
}).annotations({ identifier: "UpsertRequest", ...strictBody })
export interface UpsertRequest extends Schema.Schema.Type<typeof UpsertRequest> {}

/** Result of an upsert. */
export const UpsertResult = Schema.Struct({
  success: flag("True when every step was done."),
  uuid: text("The application's uuid on the platform.", "a1b2c3d4"),
  domain: text("The domain that it is reached at; empty when its entry has none.", "hello.example.com"),
  changelogEntry: field(ChangelogEntry, "Entry that was added to the project's platform.changelog.json."),
  steps: Schema.Array(Step).annotations({ description: "The steps, in the order in which they began." })
}).annotations({ identifier: "UpsertResult" })
export interface UpsertResult extends Schema.Schema.Type<typeof UpsertResult> {}

/** An upsert stopped. Completed steps remain in effect; another upsert continues from there. */
export class UpsertFailed extends Schema.TaggedError<UpsertFailed>()("UpsertFailed", {
  step: Schema.String,
  reason: Schema.String,
  /** Resulting state, as a sentence without its full stop; empty if nothing was created. */
  state: Schema.optionalWith(Schema.String, { default: () => "" })
}) {
  readonly status = 500
  override get message() {
    return appendSentence(`${this.reason} (upsert stopped at ${this.step})`, this.state)
  }
}

/** The project declares no application at all. */
export class NoPlatformFile extends Schema.TaggedError<NoPlatformFile>()("NoPlatformFile", {
  projectPath: Schema.String
}) {
  override get message() {
    return `No project file found: ${quoteInput(this.projectPath)} has no platform.json, or an empty one. ` +
      "Check that this is the project's directory"
  }
}

/** The project does not declare the requested application. */
export class AppNotDeclared extends Schema.TaggedError<AppNotDeclared>()("AppNotDeclared", {
  projectPath: Schema.String,
  appName: Schema.String,
  names: Schema.Array(Schema.String)
}) {
  override get message() {
    const names = this.names.slice(0, 20).map(quoteInput).join(", ")
    return `Application ${quoteInput(this.appName)} not found in the platform.json of ${cut(this.projectPath)}: ` +
      `it declares ${names}`
  }
}

/** An entry has a domain for the proxy, but no port. */
export class DomainWithoutPort extends Schema.TaggedError<DomainWithoutPort>()("DomainWithoutPort", {
  appName: Schema.String,
  domain: Schema.String
}) {
  override get message() {
    return `${quoteInput(this.appName)} has the domain ${this.domain} and no port: ` +
      "add \"port\" to its entry in platform.json, so that the proxy knows where to send requests"
  }
}

/** The platform has no server of this name, or does not report its address. */
export class TargetUnusable extends Schema.TaggedError<TargetUnusable>()("TargetUnusable", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

/** A step would differ from its plan. */
export class StepMoved extends Schema.TaggedError<StepMoved>()("StepMoved", {
  planned: Schema.String,
  now: Schema.String
}) {
  override get message() {
    return `The plan was to ${cut(this.planned)}; since then something has changed, and this step would now ` +
      `${cut(this.now)}. ${planAgain}`
  }
}

/**
 * The platform does not disclose the application's port. Overwriting it could take the port from a running application.
 */
export class PortHidden extends Schema.TaggedError<PortHidden>()("PortHidden", { reason: Schema.String }) {
  override get message() {
    return `HOST_PORT is set on the platform, but its value cannot be read, so it was not overwritten: ${this.reason}`
  }
}
