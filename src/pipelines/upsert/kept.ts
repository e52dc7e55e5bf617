import { Schema } from "effect"
import { Change } from "../../schema/Changelog.ts"
import { BuildPack, RawEntry } from "../../schema/PlatformFile.ts"

const optional = Schema.OptionFromNullOr
const OptionalText = optional(Schema.String)

/** What the steps of an upsert keep for an attempt in another process: no record of the platform, which may hold secrets. */
export const KeptPlan = Schema.Struct({
  name: Schema.String,
  raw: RawEntry,
  buildPack: BuildPack,
  declaredBuildPack: optional(BuildPack),
  repository: Schema.Struct({ owner: Schema.String, name: Schema.String }),
  gitUrl: Schema.String,
  branch: Schema.String,
  baseDirectory: Schema.String,
  composeLocation: Schema.String,
  isStatic: Schema.Boolean,
  publishDir: OptionalText,
  port: optional(Schema.Number),
  domain: OptionalText,
  server: OptionalText,
  service: OptionalText,
  warnings: Schema.Array(Schema.String)
})

export const KeptTarget = Schema.Struct({ serverUuid: Schema.String, ip: OptionalText, local: Schema.Boolean })

/** What was found of the application: its uuid when it exists, and what the update will change of it. */
export const KeptCheck = Schema.Struct({
  uuid: OptionalText,
  namesakes: Schema.Array(Schema.String),
  updates: Schema.Array(Change)
})

/** What a step that may change something came to. */
export const KeptChange = Schema.Struct({ detail: Schema.String, change: optional(Change) })

export const KeptDeployment = Schema.Struct({ notQueued: OptionalText })
