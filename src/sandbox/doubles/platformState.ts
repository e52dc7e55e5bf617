import { Effect } from "effect"
import { checkPlaces, makeApplicationStore } from "./applicationStore.ts"
import type { ApplicationChanges, EnvFields, NewApplication } from "./platformFields.ts"
import {
  type Application,
  type ApplicationEnv,
  buildPlatformContents,
  changeApplication,
  defaultPlatform,
  makeApplication,
  makeUuid,
  type PlatformContents,
  type PlatformSeed
} from "./platformRecords.ts"
import { Refused } from "./Refused.ts"

/** In-memory platform. The doubles format its responses. */
export type PlatformState = Effect.Effect.Success<ReturnType<typeof makePlatformState>>

const findEnv = (envs: ReadonlyArray<ApplicationEnv>, id: number) => {
  const env = envs.find((one) => one.id === id)
  return env === undefined ? Effect.fail(Refused.missing("Environment variable")) : Effect.succeed(env)
}

const replaced = (now: PlatformContents, next: Application): PlatformContents => ({
  ...now,
  applications: now.applications.map((one) => one.uuid === next.uuid ? next : one)
})

/** Creates a platform that contains only the seed. */
export const makePlatformState = (seed: PlatformSeed = {}) =>
  Effect.gen(function*() {
    const places = { ...defaultPlatform, ...seed }
    const { servers } = places
    const store = yield* makeApplicationStore(buildPlatformContents(seed, servers[0]?.uuid ?? ""))
    const { find, transact, transactEnvs } = store

    return {
      servers,
      applications: store.applications,
      application: store.application,
      envs: store.envs,
      remove: store.remove,
      create: (fields: NewApplication) =>
        transact((now) =>
          Effect.gen(function*() {
            yield* checkPlaces(places, fields)
            const counter = now.counter + 1
            const application = makeApplication(counter, fields)
            return [application, { ...now, counter, applications: [...now.applications, application] }] as const
          })
        ),
      update: (uuid: string, changes: ApplicationChanges) =>
        transact((now) =>
          Effect.gen(function*() {
            const application = yield* find(now, uuid)
            const buildPack = changes.build_pack ?? application.build_pack
            if (buildPack === "composestack" && changes.domains !== undefined) {
              return yield* Refused.invalid("Application", {
                domains: ["This field is not allowed for compose stacks."]
              })
            }
            const next = changeApplication(application, changes)
            return [next, replaced(now, next)] as const
          })
        ),
      createEnv: (uuid: string, { is_preview = false, key, value = null }: EnvFields) =>
        transactEnvs(uuid, (envs, id) => {
          const env: ApplicationEnv = { id, uuid: makeUuid(), key, value, is_preview }
          return envs.some((one) => one.key === key && one.is_preview === is_preview)
            ? Effect.fail(Refused.taken("Environment variable"))
            : Effect.succeed([env, [...envs, env]] as const)
        }),
      updateEnv: (uuid: string, id: number, { is_preview, key, value = null }: EnvFields) =>
        transactEnvs(uuid, (envs) =>
          Effect.map(findEnv(envs, id), (env) => {
            const next = { ...env, key, value, is_preview: is_preview ?? env.is_preview }
            return [next, envs.map((one) => one === env ? next : one)] as const
          })),
      removeEnv: (uuid: string, id: number) =>
        transactEnvs(
          uuid,
          (envs) => Effect.map(findEnv(envs, id), (env) => [undefined, envs.filter((one) => one !== env)] as const)
        ),
      deploy: (uuid: string, force: boolean) =>
        transact((now) =>
          Effect.map(find(now, uuid), (application) => {
            const deployment = { deployment_uuid: makeUuid(), resource_uuid: uuid, force }
            const running = replaced(now, { ...application, status: "running:healthy" })
            return [deployment, { ...running, deployments: [...now.deployments, deployment] }] as const
          })
        ),
      deployments: Effect.map(store.contents, ({ deployments }) => deployments)
    }
  })
