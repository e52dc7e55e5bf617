import { Schema } from "effect"
import { flag, text } from "../words/describedFields.ts"
import { strictBody } from "../words/strict.ts"
import { RawEntry } from "./PlatformFile.ts"

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
