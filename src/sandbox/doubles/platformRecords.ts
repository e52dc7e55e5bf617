import { Struct } from "effect"
import { randomBytes } from "node:crypto"
import { readNeutralKey, withUnsetColumns } from "./declaredColumns.ts"
import type { ApplicationChanges, NewApplication } from "./platformFields.ts"

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
