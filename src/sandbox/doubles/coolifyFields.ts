import { Schema } from "effect"
import { buildAcceptedColumns, readCoolifyKey } from "./declaredColumns.ts"
import { Addresses, annotateMessage, Filled, nullable } from "./decodeRequestBody.ts"

const text = Schema.optional(Schema.String)
const flag = Schema.optional(Schema.Boolean)

const BuildPack = Schema.Literal("nixpacks", "railpack", "static", "dockerfile", "dockercompose").annotations(
  annotateMessage("The selected build pack is invalid.")
)
const Directory = Schema.String.pipe(
  Schema.pattern(/^\/([a-zA-Z0-9._\-/~@+]*)?$/, annotateMessage("The format is invalid."))
)
const File = Schema.String.pipe(Schema.pattern(/^\/[a-zA-Z0-9._\-/~@+]+$/, annotateMessage("The format is invalid.")))
const Ports = Schema.String.pipe(Schema.pattern(/^(\d+)(,\d+)*$/, annotateMessage("The format is invalid.")))
const EnvKey = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z_][A-Za-z0-9_.]*$/, annotateMessage("The format is invalid."))
)

/** Update of an application, as far as the double supports it; other fields are refused. */
export const CoolifyChanges = Schema.Struct({
  ...buildAcceptedColumns(readCoolifyKey),
  name: Schema.optional(Filled),
  description: text,
  build_pack: Schema.optional(BuildPack),
  git_repository: Schema.optional(Filled),
  git_branch: Schema.optional(Filled),
  git_commit_sha: text,
  base_directory: nullable(Directory),
  publish_directory: nullable(Directory),
  ports_exposes: Schema.optional(Ports),
  install_command: text,
  build_command: text,
  start_command: text,
  is_static: flag,
  is_spa: flag,
  is_auto_deploy_enabled: flag,
  instant_deploy: flag,
  force_domain_override: flag,
  domains: nullable(Addresses),
  docker_compose_location: nullable(File),
  docker_compose_domains: Schema.optional(
    Schema.Array(Schema.Struct({ name: Filled, domain: Addresses, redirect: nullable(Schema.String) }))
  ),
  manual_webhook_secret_gitea: nullable(Schema.String),
  manual_webhook_secret_github: nullable(Schema.String),
  manual_webhook_secret_gitlab: nullable(Schema.String),
  manual_webhook_secret_bitbucket: nullable(Schema.String)
})
export interface CoolifyChanges extends Schema.Schema.Type<typeof CoolifyChanges> {}

/** Body of a request that creates an application. */
export const CoolifyNew = Schema.Struct({
  ...CoolifyChanges.fields,
  build_pack: BuildPack,
  git_repository: Filled,
  git_branch: Filled,
  project_uuid: Filled,
  server_uuid: Filled,
  private_key_uuid: Filled,
  environment_name: text,
  environment_uuid: text,
  destination_uuid: text,
  autogenerate_domain: flag
})
export interface CoolifyNew extends Schema.Schema.Type<typeof CoolifyNew> {}

/** Body of an environment variable. */
export const CoolifyEnvFields = Schema.Struct({
  key: EnvKey,
  value: nullable(Schema.String),
  is_preview: flag,
  is_literal: flag,
  is_multiline: flag,
  is_shown_once: flag,
  is_runtime: flag,
  is_buildtime: flag,
  comment: nullable(Schema.String)
})
export interface CoolifyEnvFields extends Schema.Schema.Type<typeof CoolifyEnvFields> {}
