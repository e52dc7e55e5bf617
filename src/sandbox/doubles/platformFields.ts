import { Schema } from "effect"
import { buildAcceptedColumns, readNeutralKey } from "./declaredColumns.ts"
import { Addresses, annotateMessage, Filled, nullable } from "./decodeRequestBody.ts"

const BuildPack = Schema.Literal("composestack", "autopack", "imagefile", "static").annotations(
  annotateMessage("The selected build pack is invalid.")
)
const Location = Schema.String.pipe(
  Schema.pattern(/^\/[\w.\-/]*$/, annotateMessage("Must be a path that starts with a slash."))
)
const Publish = Schema.String.pipe(Schema.pattern(/^[\w.\-/~@+]*$/, annotateMessage("The format is invalid.")))
const Ports = Schema.String.pipe(Schema.pattern(/^\d+(,\d+)*$/, annotateMessage("The format is invalid.")))

/** Update of an application. */
export const ApplicationChanges = Schema.Struct({
  ...buildAcceptedColumns(readNeutralKey),
  name: Schema.optional(Filled),
  description: nullable(Schema.String),
  build_pack: Schema.optional(BuildPack),
  git_repository: Schema.optional(Filled),
  git_branch: Schema.optional(Filled),
  base_directory: Schema.optional(Location),
  compose_location: Schema.optional(Location),
  is_static: Schema.optional(Schema.Boolean),
  publish_directory: nullable(Publish),
  ports_exposes: Schema.optional(Ports),
  fqdn: nullable(Addresses),
  domains: nullable(Addresses),
  manual_webhook_secret_githost: nullable(Schema.String)
})
export interface ApplicationChanges extends Schema.Schema.Type<typeof ApplicationChanges> {}

/** Body of a request that creates an application. */
export const NewApplication = Schema.Struct({
  ...ApplicationChanges.fields,
  name: Filled,
  build_pack: BuildPack,
  git_repository: Filled,
  git_branch: Filled,
  ports_exposes: Ports,
  project_uuid: Filled,
  server_uuid: Filled,
  private_key_uuid: Filled,
  environment_name: Filled,
  instant_deploy: Schema.optional(Schema.Boolean)
})
export interface NewApplication extends Schema.Schema.Type<typeof NewApplication> {}

/** Body of an environment variable. */
export const EnvFields = Schema.Struct({
  key: Schema.String.pipe(Schema.pattern(/^[A-Za-z_][A-Za-z0-9_.-]*$/, annotateMessage("The format is invalid."))),
  value: nullable(Schema.String),
  is_preview: Schema.optional(Schema.Boolean)
})
export interface EnvFields extends Schema.Schema.Type<typeof EnvFields> {}
