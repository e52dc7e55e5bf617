import { Schema } from "effect"
import { RawEntry } from "./PlatformFile.ts"
import { strictBody } from "./strict.ts"

/** Which application of a project to look at; the first one when no name is given. */
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

/** A field that differs. What the last upsert set it to tells which side has moved since. */
export const DriftDiff = Schema.Struct({
  field: Schema.String,
  label: Schema.String,
  local: Schema.Unknown,
  remote: Schema.Unknown,
  applied: Schema.optional(Schema.Unknown.annotations({
    description: "The value at the last upsert, by the changelog; left out when it records none."
  })),
  changed: Schema.optional(Schema.Literal("here", "there", "both")).annotations({
    description: "Where the value has changed since the last upsert: in platform.json, on the platform, or in both."
  })
}).annotations({ identifier: "DriftDiff" })
export interface DriftDiff extends Schema.Schema.Type<typeof DriftDiff> {}

/** A field that cannot be compared, because the platform keeps its value to itself. */
export const DriftUnknown = Schema.Struct({
  field: Schema.String,
  label: Schema.String,
  reason: Schema.String
}).annotations({ identifier: "DriftUnknown" })
export interface DriftUnknown extends Schema.Schema.Type<typeof DriftUnknown> {}

/** How an application differs from what its project declares. */
export const Drift = Schema.Struct({
  exists: Schema.Boolean,
  diffs: Schema.Array(DriftDiff),
  unknown: Schema.optional(Schema.Array(DriftUnknown)),
  app: Schema.optional(Schema.Struct({ uuid: Schema.String, name: Schema.String })),
  appConfig: Schema.optional(RawEntry),
  configs: Schema.Array(RawEntry),
  warnings: Schema.optional(Schema.Array(Schema.String)).annotations({
    description: "What of the entry Berth does not know: it is kept, and has no effect."
  })
}).annotations({ identifier: "Drift" })
export interface Drift extends Schema.Schema.Type<typeof Drift> {}
