import { Schema } from "effect"
import { describeMovedFacts, planAgain, PlanHash } from "./basics.ts"
import { declaredFields, Line } from "./declaredFields.ts"
import { Step } from "./runs.ts"
import { field, flag, number, projectPath, strictBody, strictQuery, text, textOrNull, texts } from "./validation.ts"
import { appendSentence, cut, mask, quoteInput } from "./words.ts"

/** Application of a project's `platform.json`. Null and empty values count as absent and are removed. */
export const PlatformEntry = Schema.Struct({
  name: Schema.propertySignature(Line).annotations({
    description: "The name of the application, by which it is found on the platform.",
    example: "hello"
  }),
  ...declaredFields
}).annotations({ identifier: "PlatformEntry" })
export interface PlatformEntry extends Schema.Schema.Type<typeof PlatformEntry> {}

/** Entry as written in the file, with every key. */
export const RawEntry = Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({
  identifier: "PlatformFileEntry",
  description: "An entry of platform.json as it stands in the file."
})
export type RawEntry = typeof RawEntry.Type

const knownKeys = Object.keys(PlatformEntry.fields)

/** Keys of an entry without a meaning. */
export const listUnknownKeys = (entry: RawEntry): ReadonlyArray<string> =>
  Object.keys(entry).filter((key) => !knownKeys.includes(key))

/** An entry for a viewer: keys without a meaning may hold values of variables. */
export const maskUnknownKeys = (entry: RawEntry): RawEntry => ({
  ...entry,
  ...Object.fromEntries(listUnknownKeys(entry).map((key) => [key, mask]))
})

/** The given project directory has no `platform.json`. */
export class PlatformFileMissing extends Schema.TaggedError<PlatformFileMissing>()("PlatformFileMissing", {
  path: Schema.String
}) {
  override get message() {
    return `No platform.json found in ${quoteInput(this.path)}: path is the absolute path of the project's directory`
  }
}

/** Entry of the file, raw and decoded. */
export interface DeclaredApp {
  readonly raw: RawEntry
  readonly entry: PlatformEntry
  /** Warnings of unknown keys, which are kept and have no effect. */
  readonly warnings: ReadonlyArray<string>
}

/** The name of a project's changelog. */
export const changelogFileName = "platform.changelog.json"

/** Field changed by an upsert. */
export const Change = Schema.Struct({
  field: text("The name of the field in platform.json.", "branch"),
  label: text("Label of the field.", "Branch"),
  old: Schema.Unknown.annotations({ description: "Its value before; null when it had none." }),
  new: Schema.Unknown.annotations({ description: "Its value since." })
}).annotations({ identifier: "Change" })
export interface Change extends Schema.Schema.Type<typeof Change> {}

/** Record of one upsert. */
export const ChangelogEntry = Schema.Struct({
  timestamp: text("When the upsert ended, in UTC.", "2026-01-02T03:04:05.678Z"),
  action: Schema.Literal("create", "update").annotations({
    description: "Action: the application was created, or existed and was updated."
  }),
  appName: text("The name of the application.", "hello"),
  uuid: text("The application's uuid on the platform.", "a1b2c3d4"),
  changes: Schema.Array(Change).annotations({ description: "The fields that were changed; empty for a new one." }),
  configSnapshot: field(RawEntry, "The entry of platform.json as it was then.")
}).annotations({ identifier: "ChangelogEntry" })
export interface ChangelogEntry extends Schema.Schema.Type<typeof ChangelogEntry> {}

/** Maximum number of entries on a page. */
export const maxChangelogEntries = 100
const limitWords = `must be a whole number from 1 to ${maxChangelogEntries}`

/** Query for a page of a project's changelog. */
export const ChangelogQuery = Schema.Struct({
  projectPath,
  appName: Schema.optional(text("Only what was done to the application with this name.", "hello")),
  limit: Schema.optional(
    Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, maxChangelogEntries)).annotations({
      message: () => ({ message: limitWords, override: true }),
      jsonSchema: { type: "integer", minimum: 1, maximum: maxChangelogEntries, default: 20 }
    })
  ).annotations({ description: "Most entries to list." }),
  before: Schema.optional(
    Schema.NumberFromString.pipe(Schema.int(), Schema.positive()).annotations({
      message: () => ({ message: "must be what the page before named as \"next\"", override: true }),
      jsonSchema: { type: "string" }
    })
  ).annotations({ description: "Cursor that the page before gave as `next`." })
}).annotations(strictQuery)
export interface ChangelogQuery extends Schema.Schema.Type<typeof ChangelogQuery> {}

/** A page of a project's changelog, newest first. */
export const ChangelogPage = Schema.Struct({
  entries: Schema.Array(
    Schema.Struct({
      number: number("Its place in the file, from 1 for the oldest.", 12),
      ...ChangelogEntry.fields
    }).annotations({ identifier: "NumberedChangelogEntry" })
  ).annotations({
    description: "Changes by upserts, newest first."
  }),
  next: textOrNull(
    "Cursor of the next page, to be sent as `before` to get the page after this one; null on the last page."
  ),
  unreadable: number("Number of entries left out since no upsert writes such entries.", 0)
}).annotations({ identifier: "ChangelogPage" })
export interface ChangelogPage extends Schema.Schema.Type<typeof ChangelogPage> {}

/** Selects an application of a project; the first one without a name. */
export const AppRequest = Schema.Struct({
  projectPath: Schema.NonEmptyString.annotations({
    description: "The absolute path of the project's directory.",
    message: () => "must not be empty"
  }),
  appName: Schema.optional(Schema.NullOr(Schema.String)).annotations({
    description: "The name of an entry of platform.json; the first one when it is left out."
  })
}).annotations({ identifier: "AppRequest", ...strictBody })
export interface AppRequest extends Schema.Schema.Type<typeof AppRequest> {}

/** Differing field. The value of the last upsert tells which side has changed since. */
export const DriftDiff = Schema.Struct({
  field: text("The name of the field in platform.json.", "branch"),
  label: text("Label of the field.", "Branch"),
  local: Schema.Unknown.annotations({ description: "Value in the entry of platform.json." }),
  remote: Schema.Unknown.annotations({ description: "Value on the platform." }),
  applied: Schema.optional(Schema.Unknown.annotations({
    description: "The value at the last upsert, by the changelog; left out when it records none."
  })),
  changed: Schema.optional(Schema.Literal("here", "there", "both")).annotations({
    description: "Where the value has changed since the last upsert: in platform.json, on the platform, or in both."
  })
}).annotations({ identifier: "DriftDiff" })
export interface DriftDiff extends Schema.Schema.Type<typeof DriftDiff> {}

/** Field that cannot be compared, because the platform does not disclose its value. */
export const DriftUnknown = Schema.Struct({
  field: text("The name of the field in platform.json.", "port"),
  label: text("Label of the field.", "Port"),
  reason: text("Why its value cannot be read.")
}).annotations({ identifier: "DriftUnknown" })
export interface DriftUnknown extends Schema.Schema.Type<typeof DriftUnknown> {}

/** Difference outside the compared fields: in a route, a webhook, or another part that an upsert writes. */
export const DriftPart = Schema.Struct({
  field: text("The field of it.", "active"),
  label: text("Label of the field.", "Proxy route"),
  local: Schema.Unknown.annotations({ description: "Declared value; null when nothing should be there." }),
  remote: Schema.Unknown.annotations({ description: "Present value; null when there is none." }),
  remedy: Schema.optional(Schema.String).annotations({
    description: "Why an upsert does not make it as declared, and what to do; absent where it does."
  })
}).annotations({ identifier: "DriftPart" })
export interface DriftPart extends Schema.Schema.Type<typeof DriftPart> {}

/** Differences between an application and its declaration. */
export const Drift = Schema.Struct({
  exists: flag("True when the platform has an application of this name."),
  diffs: Schema.Array(DriftDiff).annotations({ description: "The fields that differ." }),
  routes: Schema.optional(Schema.Array(DriftPart)).annotations({
    description:
      "Differences in the way to its domain: proxy routes, the platform's own address; absent when there are none."
  }),
  hook: Schema.optional(Schema.Array(DriftPart)).annotations({
    description: "Differences in its webhook, on the platform and the git host; absent when there are none."
  }),
  others: Schema.optional(Schema.Array(DriftPart)).annotations({
    description: "Other changes or obstacles of an upsert; absent when there are none."
  }),
  unknown: Schema.optional(Schema.Array(DriftUnknown)).annotations({
    description: "Properties that cannot be compared; absent when all can."
  }),
  app: Schema.optional(
    Schema.Struct({
      uuid: text("Its uuid on the platform.", "a1b2c3d4"),
      name: text("Its name.", "hello")
    })
  ).annotations({ description: "The application on the platform; absent when there is none." }),
  appConfig: Schema.optional(RawEntry).annotations({ description: "The entry that was compared." }),
  configs: Schema.Array(RawEntry).annotations({ description: "All entries of platform.json." }),
  warnings: Schema.optional(Schema.Array(Schema.String)).annotations({
    description: "Keys of the entry that Berth does not know: kept, without effect."
  })
}).annotations({ identifier: "Drift" })
export interface Drift extends Schema.Schema.Type<typeof Drift> {}

/** Counts the differences in a drift answer. */
export const differencesIn = (
  { diffs, hook = [], others = [], routes = [] }: Pick<Drift, "diffs" | "routes" | "hook" | "others">
): number => diffs.length + routes.length + hook.length + others.length

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

/** A planned change of an upsert. Secrets are masked as `***`. */
export const PlanChange = Schema.Struct({
  target: Schema.Literal("application", "variable", "route", "hook", "deployment", "changelog").annotations({
    description: "Kind of what would be changed."
  }),
  field: text("The field of it.", "git_branch"),
  label: text("Label of the field.", "Branch"),
  old: Schema.Unknown.annotations({ description: "Present value; null when there is none." }),
  new: Schema.Unknown.annotations({ description: "Value afterwards." })
}).annotations({ identifier: "PlanChange" })
export interface PlanChange extends Schema.Schema.Type<typeof PlanChange> {}

/** Difference from the declaration that an upsert does not fix, with its remedy. */
export const StayingDifference = Schema.Struct({
  target: Schema.Literal("application", "variable", "route", "hook").annotations({
    description: "Kind of what differs."
  }),
  field: text("The field of it.", "url"),
  label: text("Label of the field.", "Proxy route"),
  declared: Schema.Unknown.annotations({ description: "Value in platform.json; null when there is none." }),
  live: Schema.Unknown.annotations({ description: "Present value; null when there is none." }),
  remedy: text("Why an upsert leaves it, and what to do.", "remove the route hello, and run the upsert again")
}).annotations({ identifier: "StayingDifference" })
export interface StayingDifference extends Schema.Schema.Type<typeof StayingDifference> {}

/** Plan of one step. */
export const PlanStep = Schema.Struct({
  step: text("The step's name.", "route"),
  will: Schema.Literal("change", "nothing", "skip").annotations({
    description: "`nothing`: what the step brings about is there already."
  }),
  detail: text("Planned action, or why there is none.", "add the route hello")
}).annotations({ identifier: "PlanStep" })
export interface PlanStep extends Schema.Schema.Type<typeof PlanStep> {}

/** Plan of an upsert. */
export const PlatformPlan = Schema.Struct({
  planHash: Schema.String.annotations({ description: "Sent with an upsert, it holds the upsert to this plan." }),
  appName: text("The name of the application.", "hello"),
  uuid: Schema.NullOr(Schema.String).annotations({ description: "Null while the application does not exist." }),
  action: Schema.Literal("create", "update", "none").annotations({ description: "`none`: nothing would change." }),
  changes: field(Schema.Array(PlanChange), "Everything that would be different afterwards."),
  stays: Schema.optional(Schema.Array(StayingDifference)).annotations({
    description: "Differences from platform.json that would remain; absent when there are none."
  }),
  steps: field(Schema.Array(PlanStep), "Planned action of each of the ten steps, in their order."),
  unknown: Schema.Array(Schema.String).annotations({ description: "Sources that could not be read, and why." }),
  warnings: texts("Warnings, which do not stop an upsert.")
}).annotations({ identifier: "PlatformPlan" })
export interface PlatformPlan extends Schema.Schema.Type<typeof PlatformPlan> {}

/** An upsert cannot be planned, because too much could not be read. */
export class PlanFailed extends Schema.TaggedError<PlanFailed>()("PlanFailed", {
  step: Schema.String,
  reason: Schema.String,
  status: Schema.Number
}) {
  override get message() {
    return `${this.reason} (an upsert would stop at ${this.step})`
  }
}

/** The upsert no longer matches its plan. */
export class PlanMoved extends Schema.TaggedError<PlanMoved>()("PlanMoved", {
  appName: Schema.String,
  moved: Schema.Array(Schema.String)
}) {
  readonly status = 409
  override get message() {
    return describeMovedFacts(`The plan of ${JSON.stringify(cut(this.appName))}`, this.moved)
  }
}
