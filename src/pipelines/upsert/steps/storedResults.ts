import { Schema } from "effect"
import { Change } from "../../../schema/applications/Changelog.ts"
import { BuildPack } from "../../../schema/applications/DeclaredField.ts"
import { RawEntry } from "../../../schema/applications/PlatformFile.ts"

const optional = Schema.OptionFromNullOr
const OptionalText = optional(Schema.String)

/**
 * A plan without its entry, which is decoded from `raw` again. Platform records are never stored, because they may
 * contain secrets.
 */
export const StoredPlan = Schema.Struct({
  name: Schema.String,
  raw: RawEntry,
  warnings: Schema.Array(Schema.String),
  buildPack: BuildPack,
  repository: Schema.Struct({ owner: Schema.String, name: Schema.String }),
  gitUrl: Schema.String,
  branch: Schema.String,
  port: optional(Schema.Number),
  domain: OptionalText,
  server: OptionalText,
  service: OptionalText
})
export interface StoredPlan extends Schema.Schema.Type<typeof StoredPlan> {}

export const StoredTarget = Schema.Struct({ serverUuid: Schema.String, ip: OptionalText, local: Schema.Boolean })

/** The application that was found, with the changes that the update will make. */
export const StoredCheck = Schema.Struct({
  uuid: OptionalText,
  namesakes: Schema.Array(Schema.String),
  updates: Schema.Array(Change)
})
export interface StoredCheck extends Schema.Schema.Type<typeof StoredCheck> {}

/** Outcome of a step that may change something. */
export const StoredChange = Schema.Struct({ detail: Schema.String, change: optional(Change) })

export const StoredDeployment = Schema.Struct({ notQueued: OptionalText })
