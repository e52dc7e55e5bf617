import { Effect, SynchronizedRef } from "effect"
import type { ApplicationChanges, EnvFields, NewApplication } from "./platformFields.ts"
import { changed, defaultPlatform, fresh, newUuid, seeded } from "./platformRecords.ts"
import type {
  Application,
  ApplicationEnv,
  Deployment,
  PlatformContents,
  PlatformMachine,
  PlatformSeed
} from "./platformRecords.ts"
import { Refused } from "./Refused.ts"

/** A platform in memory. What it means to create or change something is decided here, how it is said elsewhere. */
export interface PlatformState {
  readonly servers: ReadonlyArray<PlatformMachine>
  readonly applications: Effect.Effect<ReadonlyArray<Application>>
  readonly application: (uuid: string) => Effect.Effect<Application, Refused>
  readonly create: (fields: NewApplication) => Effect.Effect<Application, Refused>
  readonly update: (uuid: string, changes: ApplicationChanges) => Effect.Effect<Application, Refused>
  readonly remove: (uuid: string) => Effect.Effect<void, Refused>
  readonly envs: (uuid: string) => Effect.Effect<ReadonlyArray<ApplicationEnv>, Refused>
  readonly createEnv: (uuid: string, fields: EnvFields) => Effect.Effect<ApplicationEnv, Refused>
  readonly updateEnv: (uuid: string, id: number, fields: EnvFields) => Effect.Effect<ApplicationEnv, Refused>
  readonly removeEnv: (uuid: string, id: number) => Effect.Effect<void, Refused>
  readonly deploy: (uuid: string, force: boolean) => Effect.Effect<Deployment, Refused>
  readonly deployments: Effect.Effect<ReadonlyArray<Deployment>>
}

const find = ({ applications }: PlatformContents, uuid: string): Effect.Effect<Application, Refused> => {
  const found = applications.find((one) => one.uuid === uuid)
  return found === undefined ? Effect.fail(Refused.missing("Application")) : Effect.succeed(found)
}

const findEnv = (envs: ReadonlyArray<ApplicationEnv>, id: number) => {
  const env = envs.find((one) => one.id === id)
  return env === undefined ? Effect.fail(Refused.missing("Environment variable")) : Effect.succeed(env)
}

const replaced = (now: PlatformContents, next: Application): PlatformContents => ({
  ...now,
  applications: now.applications.map((one) => one.uuid === next.uuid ? next : one)
})

const known = (what: string, all: ReadonlyArray<string>, uuid: string) =>
  all.includes(uuid) ? Effect.void : Effect.fail(Refused.missing(what))

/** An empty platform but for the seed. */
export const makePlatformState = (seed: PlatformSeed = {}): Effect.Effect<PlatformState> =>
  Effect.gen(function*() {
    const { privateKeys, projects, servers } = { ...defaultPlatform, ...seed }
    const contents = yield* SynchronizedRef.make(seeded(seed, servers[0]?.uuid ?? ""))

    /** Changes the contents in one go; a change that is refused changes nothing. */
    const transact = <A>(
      change: (now: PlatformContents) => Effect.Effect<readonly [A, PlatformContents], Refused>
    ): Effect.Effect<A, Refused> => SynchronizedRef.modifyEffect(contents, change)

    /** Changes the variables of an application that exists. */
    const transactEnvs = <A>(
      uuid: string,
      change: (
        envs: ReadonlyArray<ApplicationEnv>,
        id: number
      ) => Effect.Effect<readonly [A, ReadonlyArray<ApplicationEnv>], Refused>
    ) =>
      transact((now) =>
        Effect.gen(function*() {
          yield* find(now, uuid)
          const [result, envs] = yield* change(now.envs.get(uuid) ?? [], now.counter + 1)
          const counter = Math.max(now.counter, ...envs.map(({ id }) => id))
          return [result, { ...now, counter, envs: new Map([...now.envs, [uuid, envs]]) }] as const
        })
      )
    return {
      servers,
      applications: Effect.map(contents, ({ applications }) => applications),
      application: (uuid) => Effect.flatMap(contents, (now) => find(now, uuid)),
      create: (fields) =>
        transact((now) =>
          Effect.gen(function*() {
            yield* known("Project", projects, fields.project_uuid)
            yield* known("Server", servers.map(({ uuid }) => uuid), fields.server_uuid)
            yield* known("Private Key", privateKeys, fields.private_key_uuid)
            const counter = now.counter + 1
            const application = fresh(counter, fields)
            return [application, { ...now, counter, applications: [...now.applications, application] }] as const
          })
        ),
      update: (uuid, changes) =>
        transact((now) =>
          Effect.gen(function*() {
            const application = yield* find(now, uuid)
            const buildPack = changes.build_pack ?? application.build_pack
            if (buildPack === "composestack" && changes.domains !== undefined) {
              return yield* Refused.invalid("Application", {
                domains: ["This field is not allowed for compose stacks."]
              })
            }
            const next = changed(application, changes)
            return [next, replaced(now, next)] as const
          })
        ),
      remove: (uuid) =>
        transact((now) =>
          Effect.map(find(now, uuid), (application) => {
            const envs = new Map(now.envs)
            envs.delete(uuid)
            const applications = now.applications.filter((one) => one !== application)
            return [undefined, { ...now, envs, applications }] as const
          })
        ),
      envs: (uuid) => transactEnvs(uuid, (envs) => Effect.succeed([envs, envs] as const)),
      createEnv: (uuid, { is_preview = false, key, value = null }) =>
        transactEnvs(uuid, (envs, id) => {
          const env: ApplicationEnv = { id, uuid: newUuid(), key, value, is_preview }
          return envs.some((one) => one.key === key && one.is_preview === is_preview)
            ? Effect.fail(Refused.taken("Environment variable"))
            : Effect.succeed([env, [...envs, env]] as const)
        }),
      updateEnv: (uuid, id, { is_preview, key, value = null }) =>
        transactEnvs(uuid, (envs) =>
          Effect.map(findEnv(envs, id), (env) => {
            const next = { ...env, key, value, is_preview: is_preview ?? env.is_preview }
            return [next, envs.map((one) => one === env ? next : one)] as const
          })),
      removeEnv: (uuid, id) =>
        transactEnvs(
          uuid,
          (envs) => Effect.map(findEnv(envs, id), (env) => [undefined, envs.filter((one) => one !== env)] as const)
        ),
      deploy: (uuid, force) =>
        transact((now) =>
          Effect.map(find(now, uuid), (application) => {
            const deployment = { deployment_uuid: newUuid(), resource_uuid: uuid, force }
            const running = replaced(now, { ...application, status: "running:healthy" })
            return [deployment, { ...running, deployments: [...now.deployments, deployment] }] as const
          })
        ),
      deployments: Effect.map(contents, ({ deployments }) => deployments)
    }
  })
