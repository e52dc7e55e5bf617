import { Either, Schema, Struct } from "effect"
import { parseYaml } from "../services/parsing.ts"
import { Addresses, annotateMessage, Filled, nullable } from "./httpDouble.ts"
import { buildAcceptedColumns, makeUuid, type PlatformMachine, readCoolifyKey, withUnsetColumns } from "./records.ts"

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

/** An application as Coolify stores it. */
export interface CoolifyApp {
  readonly id: number
  readonly uuid: string
  readonly name: string
  readonly description: string | null
  readonly fqdn: string | null
  readonly build_pack: string
  readonly git_repository: string
  readonly git_branch: string
  readonly base_directory: string
  readonly publish_directory: string | null
  readonly ports_exposes: string
  readonly docker_compose_location: string | null
  readonly docker_compose_raw: string | null
  /** JSON text: services and their domains. */
  readonly docker_compose_domains: string | null
  readonly manual_webhook_secret_gitea: string | null
  readonly manual_webhook_secret_github: string | null
  readonly manual_webhook_secret_gitlab: string | null
  readonly manual_webhook_secret_bitbucket: string | null
  readonly status: string
  readonly settings: { readonly is_static: boolean }
}

/** Variable as Coolify stores it: a record for the application and one for its previews. */
export interface CoolifyEnv {
  readonly id: number
  readonly uuid: string
  readonly key: string
  readonly value: string | null
  readonly is_preview: boolean
  readonly is_literal: boolean
  readonly is_multiline: boolean | null
  readonly is_shown_once: boolean | null
  /** Value of the shared variable that `value` names. */
  readonly shared?: string
}

/** Initial contents of a Coolify. */
export interface CoolifySeed {
  /** Compose file in the repository of each compose stack; one service `web` unless given. */
  readonly composeFile?: string
  /** Number of times that a stack is read before its compose file has been loaded; 0 unless given. */
  readonly loadsAfter?: number
  readonly servers?: ReadonlyArray<PlatformMachine>
  readonly projects?: ReadonlyArray<string>
  readonly privateKeys?: ReadonlyArray<string>
  readonly applications?: ReadonlyArray<
    & Partial<Omit<CoolifyApp, "id">>
    & { readonly name: string; readonly envs?: Readonly<Record<string, Partial<CoolifyEnv>>> }
  >
}

/** Application with Coolify's defaults. Its webhook secrets are random from the start. */
export const makeBareApp = (id: number): CoolifyApp =>
  withUnsetColumns(readCoolifyKey, {
    id,
    uuid: makeUuid(),
    name: "",
    description: null,
    fqdn: null,
    build_pack: "nixpacks",
    git_repository: "",
    git_branch: "master",
    base_directory: "/",
    publish_directory: null,
    ports_exposes: "3000",
    docker_compose_location: "/docker-compose.yaml",
    docker_compose_raw: null,
    docker_compose_domains: null,
    manual_webhook_secret_gitea: makeUuid(),
    manual_webhook_secret_github: makeUuid(),
    manual_webhook_secret_gitlab: makeUuid(),
    manual_webhook_secret_bitbucket: makeUuid(),
    status: "exited:unhealthy",
    settings: { is_static: false }
  }, ["is_static"])

const servicesIn = (compose: string) =>
  Either.match(parseYaml(compose), {
    onLeft: (): ReadonlyArray<string> => [],
    onRight: ({ document }) => Object.keys(Object(document.toJS()?.services))
  })

/** Update as Coolify carries it out: a domain of a service that the compose file lacks is passed over without a word. */
export const dropUnknownServices = (app: CoolifyApp, changes: CoolifyChanges): CoolifyChanges => {
  const { docker_compose_domains: domains, ...others } = changes
  const known: ReadonlyArray<string> = servicesIn(app.docker_compose_raw ?? "")
  const kept = domains?.filter(({ name }) => known.includes(name)) ?? []
  return kept.length === 0 ? others : { ...others, docker_compose_domains: kept }
}

/** Stack whose compose file has been loaded: domains of services that it lacks go. */
export const withoutUnknownDomains = (app: CoolifyApp): CoolifyApp => {
  const known = servicesIn(app.docker_compose_raw ?? "").map((name) => name.replaceAll(/[-.]/g, "_"))
  const domains = Object.entries(Object(JSON.parse(app.docker_compose_domains ?? "{}")))
    .filter(([name]) => known.includes(name))
  return app.docker_compose_domains === null
    ? app
    : { ...app, docker_compose_domains: JSON.stringify(Object.fromEntries(domains)) }
}

/** Fields whose form in an update differs from the stored one. */
const reworded = ["docker_compose_domains", "settings"]

/** Applies an update to an application. */
export const changeApp = (app: CoolifyApp, changes: CoolifyChanges | CoolifyNew): CoolifyApp => {
  const { docker_compose_domains: services, domains, is_static: isStatic } = changes
  const given = Object.fromEntries(
    Object.entries(changes).filter(([field, value]) => field in app && !reworded.includes(field) && value !== undefined)
  )
  return {
    ...app,
    ...given,
    ...(domains === undefined ? {} : { fqdn: domains === "" ? null : domains }),
    ...(isStatic === undefined ? {} : { settings: { is_static: isStatic } }),
    ...(services === undefined
      ? {}
      : {
        docker_compose_domains: JSON.stringify(
          // As Coolify does up to 4.2.
          Object.fromEntries(services.map(({ domain, name }) => [name.replaceAll(/[-.]/g, "_"), { domain }]))
        )
      })
  }
}

/** Creates the two records of a variable: one for the application, one for previews. */
export const makeEnvTwins = (id: number, key: string, value: string | null, given: Partial<CoolifyEnv> = {}) =>
  [false, true].map((preview, index): CoolifyEnv => ({
    id: id + index,
    uuid: makeUuid(),
    key,
    value,
    is_preview: preview,
    is_literal: false,
    is_multiline: false,
    is_shown_once: false,
    ...given
  }))

/** Applies an update to a variable; flags that it omits are reset. */
export const changeEnv = (
  env: CoolifyEnv,
  { is_literal, is_multiline, is_shown_once, value }: CoolifyEnvFields
): CoolifyEnv => ({
  ...Struct.omit(env, "shared"),
  value: value ?? null,
  is_literal: is_literal ?? false,
  is_multiline: is_multiline ?? null,
  is_shown_once: is_shown_once ?? null
})

const sensitive = [
  "docker_compose_raw",
  "manual_webhook_secret_gitea",
  "manual_webhook_secret_github",
  "manual_webhook_secret_gitlab",
  "manual_webhook_secret_bitbucket"
] as const

/** Application as a token may read it, in a list or in full. */
export const redactApp = (
  app: CoolifyApp,
  { full, mayRead }: { readonly full: boolean; readonly mayRead: boolean }
) => {
  const whole = full ? app : Struct.omit(app, "settings")
  return mayRead ? whole : Struct.omit(whole, ...sensitive)
}

/** Variable as a token may read it; no token reads a locked one. */
export const redactEnv = ({ shared, ...env }: CoolifyEnv, mayRead: boolean) =>
  mayRead && env.is_shown_once !== true ? { ...env, real_value: shared ?? env.value } : Struct.omit(env, "value")
