import { Schema } from "effect"
import { ListedTarget } from "./notify.ts"
import { field, flag, number, strictBody, strictQuery, text, textOrNull } from "./validation.ts"

const longestText = 4_096
const mostItems = 100
const Text = Schema.String.pipe(
  Schema.maxLength(longestText, { message: () => `must not be longer than ${longestText} characters` })
)

/** Value of a setting as JSON; null if it has none. */
export const SettingJson = Schema.NullOr(
  Schema.Union(Text, Schema.Number, Schema.Boolean, Schema.Array(Text).pipe(Schema.maxItems(mostItems)))
)
export type SettingJson = typeof SettingJson.Type

/** Kinds of values, for input forms. */
const SettingKind = Schema.Literal("text", "secret", "choice", "flag", "number", "list")
type SettingKind = typeof SettingKind.Type

/** Setting and the source of its value. */
export const Setting = Schema.Struct({
  name: text("Its dotted name.", "deploy.keepReleases"),
  kind: SettingKind.annotations({ description: "The kind of its value; durations and paths are text." }),
  choices: Schema.optionalWith(Schema.Array(Schema.String), { exact: true }).annotations({
    description: "The values of a choice."
  }),
  value: field(
    SettingJson,
    "Its value, references resolved: *** for a secret, null without one or where it is unusable."
  ),
  source: Schema.Literal("file", "environment", "default", "none").annotations({
    description:
      "Where the value comes from: the settings file, a variable that the file names, its default, or nowhere."
  }),
  line: Schema.NullOr(Schema.Number).annotations({ description: "Its line in the file, counted from 1; else null." }),
  description: text("Its meaning."),
  problem: textOrNull("Reason why it cannot be used; else null.")
}).annotations({ identifier: "Setting" })
export interface Setting extends Schema.Schema.Type<typeof Setting> {}

/** Setting as one caller may see it. */
export const ListedSetting = Schema.Struct({
  ...Setting.fields,
  refusal: textOrNull("Reason why this caller may not change it; null where it may.")
}).annotations({ identifier: "ListedSetting" })
export interface ListedSetting extends Schema.Schema.Type<typeof ListedSetting> {}

/** All settings except the stored servers and the named tokens. */
export const SettingsList = Schema.Struct({
  file: text("The settings file.", "/home/ann/.config/berth/berth.yaml"),
  exists: Schema.optionalWith(Schema.Boolean, { exact: true }).annotations({
    description: "false where the file does not exist, and all settings have their defaults; else left out."
  }),
  settings: Schema.Array(ListedSetting).annotations({ description: "Every setting." }),
  notify: Schema.Array(ListedTarget).annotations({ description: "Targets of notifications." })
}).annotations({ identifier: "SettingsList" })
export interface SettingsList extends Schema.Schema.Type<typeof SettingsList> {}

/** Query of a change: a plan writes nothing. */
export const SettingsChangeQuery = Schema.Struct({
  plan: Schema.optional(Schema.Literal("true", "false")).annotations({
    description: "true: answer the diff, and write nothing."
  })
}).annotations(strictQuery)
export interface SettingsChangeQuery extends Schema.Schema.Type<typeof SettingsChangeQuery> {}

/** New values of settings. */
export const SettingsChange = Schema.Struct({
  settings: Schema.Record({ key: Schema.String, value: SettingJson }).annotations({
    description: "New values by the names of the settings; null removes one, so that its default holds.",
    examples: [{ "deploy.keepReleases": 3 }]
  }),
  createDirectory: Schema.optional(Schema.Boolean).annotations({
    description: "Creates the directory of projects.root where it is missing.",
    default: false
  })
}).annotations({ identifier: "SettingsChange", ...strictBody })
export interface SettingsChange extends Schema.Schema.Type<typeof SettingsChange> {}

/** Directory that a change sets as the projects root. */
export const ProjectsRoot = Schema.Struct({
  path: text("Its absolute path.", "/home/ann/projects"),
  standing: Schema.Literal("usable", "missing", "not a directory", "unreadable").annotations({
    description: "Its state after the change, or before it for a plan."
  }),
  projects: number("Projects in it; 0 unless it is usable.", 3)
}).annotations({ identifier: "ProjectsRoot" })
export interface ProjectsRoot extends Schema.Schema.Type<typeof ProjectsRoot> {}

/** Result of a change or of its plan. */
export const SettingsChanged = Schema.Struct({
  file: text("The settings file.", "/home/ann/.config/berth/berth.yaml"),
  changed: flag("True when the file differs afterwards, or would."),
  diff: text("Unified diff of the file, without secrets; empty without changes."),
  projectsRoot: Schema.optionalWith(ProjectsRoot, { exact: true }).annotations({
    description: "The directory of projects.root, when the change names it."
  })
}).annotations({ identifier: "SettingsChanged" })
export interface SettingsChanged extends Schema.Schema.Type<typeof SettingsChanged> {}

/** A new value is not valid for its setting. Nothing was written. */
export class SettingRefused extends Schema.TaggedError<SettingRefused>()("SettingRefused", {
  setting: Schema.String,
  reason: Schema.String
}) {
  readonly status = 400
  override get message() {
    return `${this.setting} ${this.reason}${/[.?]$/.test(this.reason) ? " N" : ": n"}othing was changed`
  }
}

/** A setting that only the user of the service's machine may change. */
export class SettingForbidden extends Schema.TaggedError<SettingForbidden>()("SettingForbidden", {
  setting: Schema.String,
  reason: Schema.String
}) {
  readonly status = 403
  override get message() {
    return `${this.setting} ${this.reason}, so only the user of the service's machine may do that: nothing was changed. ` +
      "Run berth settings set there, or edit the file"
  }
}
