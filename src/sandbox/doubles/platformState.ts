import { Effect } from "effect"
import { checkPlaces, makeApplicationStore } from "./applicationStore.ts"
import type { ApplicationChanges, EnvFields, NewApplication } from "./platformFields.ts"
import {
  type Application,
  type ApplicationEnv,
  changed,
  defaultPlatform,
  type Deployment,
  fresh,
  newUuid,
  type PlatformContents,
  type PlatformMachine,
  type PlatformSeed,
  seeded
} from "./platformRecords.ts"
import { Refused } from "./Refused.ts"

/** A platform in memory; the doubles word its answers. */
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

const findEnv = (envs: ReadonlyArray<ApplicationEnv>, id: number) => {
  const env = envs.find((one) => one.id === id)
  return env === undefined ? Effect.fail(Refused.missing("Environment variable")) : Effect.succeed(env)
}

const replaced = (now: PlatformContents, next: Application): PlatformContents => ({
  ...now,
  applications: now.applications.map((one) => one.uuid === next.uuid ? next : one)
})

/** An empty platform but for the seed. */
export const makePlatformState = (seed: PlatformSeed = {}): Effect.Effect<PlatformState> =>
  Effect.gen(function*() {
    const places = { ...defaultPlatform, ...seed }
    const { servers } = places
    const store = yield* makeApplicationStore(seeded(seed, servers[0]?.uuid ?? ""))
    const { find, transact, transactEnvs } = store

    return {
      servers,
      applications: store.applications,
      application: store.application,
      envs: store.envs,
      remove: store.remove,
      create: (fields) =>
        transact((now) =>
          Effect.gen(function*() {
            yield* checkPlaces(places, fields)
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
      deployments: Effect.map(store.contents, ({ deployments }) => deployments)
    }
  })
