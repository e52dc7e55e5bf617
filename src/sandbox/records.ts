import { Effect, Schema, Struct, SynchronizedRef } from "effect"
import { randomBytes } from "node:crypto"
import { type RecordField, recordFields } from "../schema/applications.ts"
import type { RecordColumn } from "../schema/declaredFields.ts"
import { Addresses, annotateMessage, Filled, nullable, Refused } from "./httpDouble.ts"

const Rooted = Schema.String.pipe(
  Schema.pattern(/^\/[\w.\-/~@+]*$/, annotateMessage("Must be a path that starts with a slash."))
)
const valueOf = { text: Schema.String, path: Rooted, flag: Schema.Boolean }

/** Maps a column to its key, neutral or Coolify's. */
type ReadColumnKey = (column: RecordColumn) => string
const readNeutralKey: ReadColumnKey = ({ key }) => key
export const readCoolifyKey: ReadColumnKey = ({ coolify, key }) => coolify ?? key

const columns = (keyOf: ReadColumnKey) =>
  recordFields.map(({ record }: RecordField) => [keyOf(record), record.kind] as const)

/** Schemas of the declared fields that a platform has no special rule for. */
export const buildAcceptedColumns = (keyOf: ReadColumnKey) =>
  Object.fromEntries(columns(keyOf).map(([key, kind]) => [key, Schema.optional(Schema.NullOr(valueOf[kind]))]))

/**
 * Adds the declared fields that an application lacks, unset.
 * @param nested keys that the platform stores in a nested record
 */
export const withUnsetColumns = <App extends object>(
  keyOf: ReadColumnKey,
  application: App,
  nested: ReadonlyArray<string> = []
) => ({
  ...application,
  ...Object.fromEntries(
    columns(keyOf).filter(([key]) => !(key in application) && !nested.includes(key))
      .map(([key, kind]) => [key, kind === "flag" ? false : null])
  )
})

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

/** Application as the platform stores it, with neutral field names. */
export interface Application {
  readonly id: number
  readonly uuid: string
  readonly name: string
  readonly description: string | null
  readonly build_pack: string
  readonly git_repository: string
  readonly git_branch: string
  readonly status: string
  readonly fqdn: string | null
  readonly base_directory: string
  readonly compose_location: string | null
  readonly is_static: boolean
  readonly publish_directory: string | null
  readonly ports_exposes: string
  readonly server_uuid: string
  readonly manual_webhook_secret_githost: string | null
}

export interface ApplicationEnv {
  readonly id: number
  readonly uuid: string
  readonly key: string
  readonly value: string | null
  readonly is_preview: boolean
}

export interface PlatformMachine {
  readonly uuid: string
  readonly name: string
  readonly ip: string
}

export interface Deployment {
  readonly deployment_uuid: string
  readonly resource_uuid: string
  readonly force: boolean
}

/** Initial contents of a platform. */
export interface PlatformSeed {
  readonly servers?: ReadonlyArray<PlatformMachine>
  readonly projects?: ReadonlyArray<string>
  readonly privateKeys?: ReadonlyArray<string>
  readonly applications?: ReadonlyArray<
    & Partial<Omit<Application, "id">>
    & { readonly name: string; readonly envs?: Readonly<Record<string, string>> }
  >
}

/** Complete contents of a platform. */
export interface PlatformContents {
  readonly applications: ReadonlyArray<Application>
  readonly envs: ReadonlyMap<string, ReadonlyArray<ApplicationEnv>>
  readonly deployments: ReadonlyArray<Deployment>
  readonly counter: number
}

/** Default server, project and private key of a platform. */
export const defaultPlatform = {
  servers: [{ uuid: "server-local", name: "localhost", ip: "host.docker.internal" }],
  projects: ["project-sandbox"],
  privateKeys: ["key-sandbox"]
} as const

/** Creates an identifier like the real platforms': 24 characters. */
export const makeUuid = () => randomBytes(12).toString("hex")

/** The records of a seed. */
export const buildPlatformContents = (seed: PlatformSeed, serverUuid: string): PlatformContents => {
  const applications = (seed.applications ?? []).map((given, index): Application =>
    withUnsetColumns(readNeutralKey, {
      id: index + 1,
      uuid: makeUuid(),
      description: null,
      build_pack: "autopack",
      git_repository: "",
      git_branch: "master",
      status: "running:healthy",
      fqdn: null,
      base_directory: "/",
      compose_location: null,
      is_static: false,
      publish_directory: null,
      ports_exposes: "3000",
      server_uuid: serverUuid,
      manual_webhook_secret_githost: null,
      ...Struct.omit(given, "envs")
    })
  )
  let counter = applications.length
  const envs = applications.map(({ uuid }, index) => {
    const given = Object.entries(seed.applications?.[index]?.envs ?? {})
    const list = given.map(([key, value]) => ({ id: ++counter, uuid: makeUuid(), key, value, is_preview: false }))
    return [uuid, list] as const
  })
  return { applications, envs: new Map(envs), deployments: [], counter }
}

/** Applies an update to an application. */
export const changeApplication = (
  application: Application,
  { domains, ...changes }: ApplicationChanges
): Application => {
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
  const address = domains ?? changes.fqdn
  return { ...application, ...given, ...(address === undefined ? {} : { fqdn: address === "" ? null : address }) }
}

/** Creates an application with the platform's defaults. */
export const makeApplication = (id: number, fields: NewApplication): Application => {
  const { build_pack, git_branch, git_repository, name, ports_exposes, server_uuid } = fields
  const uuid = makeUuid()
  const composed = build_pack === "composestack"
  const application: Application = withUnsetColumns(readNeutralKey, {
    id,
    uuid,
    name,
    description: null,
    build_pack,
    git_repository,
    git_branch,
    status: "exited:unhealthy",
    // Like real platforms: a generated address, except for build packs that bring their own routing.
    fqdn: composed ? null : `http://${uuid}.127.0.0.1.sslip.io`,
    base_directory: "/",
    compose_location: composed ? "/docker-compose.yaml" : null,
    is_static: false,
    publish_directory: null,
    ports_exposes,
    server_uuid,
    manual_webhook_secret_githost: makeUuid()
  })
  const onlyWhenCreated = ["environment_name", "instant_deploy", "private_key_uuid", "project_uuid"] as const
  return changeApplication(application, Struct.omit(fields, ...onlyWhenCreated))
}

/** Contents that every platform has; all records share one counter of ids. */
export interface StoredContents<App, Env> {
  readonly applications: ReadonlyArray<App>
  readonly envs: ReadonlyMap<string, ReadonlyArray<Env>>
  readonly counter: number
}

const known = (what: string, all: ReadonlyArray<string>, uuid: string) =>
  all.includes(uuid) ? Effect.void : Effect.fail(Refused.missing(what))

/** Checks that the project, server and key of a new application exist. */
export const checkPlaces = (
  places: {
    readonly projects: ReadonlyArray<string>
    readonly servers: ReadonlyArray<PlatformMachine>
    readonly privateKeys: ReadonlyArray<string>
  },
  fields: { readonly project_uuid: string; readonly server_uuid: string; readonly private_key_uuid: string }
): Effect.Effect<void, Refused> =>
  known("Project", places.projects, fields.project_uuid).pipe(
    Effect.zipRight(known("Server", places.servers.map(({ uuid }) => uuid), fields.server_uuid)),
    Effect.zipRight(known("Private Key", places.privateKeys, fields.private_key_uuid))
  )

/** In-memory store of applications and their variables. */
export const makeApplicationStore = <
  App extends { readonly uuid: string },
  Env extends { readonly id: number },
  More extends object
>(initial: StoredContents<App, Env> & More) =>
  Effect.map(SynchronizedRef.make(initial), (contents) => {
    type Contents = StoredContents<App, Env> & More

    const find = ({ applications }: StoredContents<App, Env>, uuid: string): Effect.Effect<App, Refused> => {
      const found = applications.find((one) => one.uuid === uuid)
      return found === undefined ? Effect.fail(Refused.missing("Application")) : Effect.succeed(found)
    }

    /** Changes the contents atomically; a refused change has no effect. */
    const transact = <A>(
      change: (now: Contents) => Effect.Effect<readonly [A, Contents], Refused>
    ): Effect.Effect<A, Refused> => SynchronizedRef.modifyEffect(contents, change)

    /** Changes the variables of an existing application; `id` is the next free id. */
    const transactEnvs = <A>(
      uuid: string,
      change: (envs: ReadonlyArray<Env>, id: number) => Effect.Effect<readonly [A, ReadonlyArray<Env>], Refused>
    ): Effect.Effect<A, Refused> =>
      transact((now) =>
        Effect.gen(function*() {
          yield* find(now, uuid)
          const [result, envs] = yield* change(now.envs.get(uuid) ?? [], now.counter + 1)
          const counter = Math.max(now.counter, ...envs.map(({ id }) => id))
          return [result, { ...now, counter, envs: new Map([...now.envs, [uuid, envs]]) }] as const
        })
      )

    return {
      contents: SynchronizedRef.get(contents),
      find,
      transact,
      transactEnvs,
      applications: Effect.map(contents, ({ applications }) => applications),
      application: (uuid: string) => Effect.flatMap(contents, (now) => find(now, uuid)),
      envs: (uuid: string) => transactEnvs(uuid, (envs) => Effect.succeed([envs, envs] as const)),
      remove: (uuid: string) =>
        transact((now) =>
          Effect.map(find(now, uuid), (application) => {
            const envs = new Map(now.envs)
            envs.delete(uuid)
            const applications = now.applications.filter((one) => one !== application)
            return [undefined, { ...now, envs, applications }] as const
          })
        )
    }
  })
