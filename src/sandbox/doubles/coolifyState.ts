import { Effect, Ref } from "effect"
import { checkPlaces, makeApplicationStore, type StoredContents } from "./applicationStore.ts"
import type { CoolifyChanges, CoolifyEnvFields, CoolifyNew } from "./coolifyFields.ts"
import {
  changeApp,
  changeEnv,
  type CoolifyApp,
  type CoolifyEnv,
  type CoolifySeed,
  makeBareApp,
  makeEnvTwins
} from "./coolifyRecords.ts"
import { defaultPlatform, makeUuid } from "./platformRecords.ts"
import { Refused } from "./Refused.ts"

interface CoolifyDeployment {
  readonly deployment_uuid: string
  readonly resource_uuid: string
  readonly status: "queued" | "finished"
}

interface Contents extends StoredContents<CoolifyApp, CoolifyEnv> {
  readonly deployments: ReadonlyArray<CoolifyDeployment>
}

/** Project or key that a new application refers to. */
interface Referenced {
  readonly uuid: string
  readonly name: string
}

const findReferenced =
  (what: string, uuids: ReadonlyArray<string>) => (uuid: string): Effect.Effect<Referenced, Refused> =>
    uuids.includes(uuid)
      ? Effect.succeed({ uuid, name: `the one called ${uuid}` })
      : Effect.fail(Refused.missing(what))

/** In-memory Coolify. */
export type CoolifyState = Effect.Effect.Success<ReturnType<typeof makeCoolifyState>>

const seeded = ({ applications = [] }: CoolifySeed): Contents => {
  let counter = 0
  const apps = applications.map((given): CoolifyApp => {
    const { envs: _, ...fields } = given
    return { ...makeBareApp(++counter), ...fields }
  })
  const envs = apps.map(({ uuid }, index) => {
    const given = Object.entries(applications[index]?.envs ?? {})
    const all = given.flatMap(([key, { value = null, ...flags }]) =>
      makeEnvTwins((counter += 2) - 1, key, value, flags)
    )
    return [uuid, all] as const
  })
  return { applications: apps, envs: new Map(envs), deployments: [], counter }
}

const refusedField = (field: string, why = "This field is not allowed.") =>
  Refused.invalid("Application", { [field]: [why] })

/** Checks of Coolify that involve several fields. */
const checked = (buildPack: string, changes: CoolifyChanges): Effect.Effect<void, Refused> => {
  if (buildPack === "dockercompose" && changes.domains !== undefined) return Effect.fail(refusedField("domains"))
  if (buildPack !== "dockercompose" && changes.docker_compose_domains !== undefined) {
    return Effect.fail(refusedField("docker_compose_domains"))
  }
  return Effect.void
}

export const makeCoolifyState = (seed: CoolifySeed = {}) =>
  Effect.gen(function*() {
    const places = { ...defaultPlatform, ...seed }
    const store = yield* makeApplicationStore(seeded(seed))
    const { find, transact, transactEnvs } = store
    const held = yield* Ref.make(false)

    return {
      servers: places.servers,
      project: findReferenced("Project", places.projects),
      privateKey: findReferenced("Private Key", places.privateKeys),
      apps: store.applications,
      app: store.application,
      envs: store.envs,
      remove: store.remove,
      create: (fields: CoolifyNew) =>
        transact((now) =>
          Effect.gen(function*() {
            yield* checkPlaces(places, fields)
            if (fields.environment_name === undefined && fields.environment_uuid === undefined) {
              return yield* refusedField("environment_name", "Give environment_name or environment_uuid.")
            }
            yield* checked(fields.build_pack, fields)
            const bare = makeBareApp(now.counter + 1)
            const address = fields.autogenerate_domain === false ? null : `http://${bare.uuid}.127.0.0.1.sslip.io`
            const app = changeApp({ ...bare, name: `app-${bare.uuid}`, fqdn: address }, fields)
            const own = app.build_pack === "nixpacks" ? makeEnvTwins(bare.id + 1, "NIXPACKS_NODE_VERSION", "22") : []
            return [app, {
              ...now,
              counter: bare.id + own.length,
              applications: [...now.applications, app],
              envs: new Map([...now.envs, [app.uuid, own]])
            }] as const
          })
        ),
      update: (uuid: string, changes: CoolifyChanges) =>
        transact((now) =>
          Effect.gen(function*() {
            const app = yield* find(now, uuid)
            yield* checked(changes.build_pack ?? app.build_pack, changes)
            const next = changeApp(app, changes)
            return [next, { ...now, applications: now.applications.map((one) => (one === app ? next : one)) }] as const
          })
        ),
      createEnv: (uuid: string, fields: CoolifyEnvFields) =>
        transactEnvs(uuid, (envs, id) => {
          const preview = fields.is_preview ?? false
          if (envs.some((env) => env.key === fields.key && env.is_preview === preview)) {
            return Effect.fail(Refused.taken("Environment variable"))
          }
          const twins = makeEnvTwins(id, fields.key, null).map((env) => changeEnv(env, fields))
          const missing = twins.filter((twin) =>
            !envs.some((env) => env.key === twin.key && env.is_preview === twin.is_preview)
          )
          const [made] = missing.filter((twin) => twin.is_preview === preview)
          return made === undefined
            ? Effect.fail(Refused.taken("Environment variable"))
            : Effect.succeed([made, [...envs, ...missing]] as const)
        }),
      updateEnv: (uuid: string, fields: CoolifyEnvFields) =>
        transactEnvs(uuid, (envs) => {
          const env = envs.find(({ is_preview, key }) =>
            key === fields.key && is_preview === (fields.is_preview ?? false)
          )
          if (env === undefined) return Effect.fail(Refused.missing("Environment variable"))
          const next = changeEnv(env, fields)
          return Effect.succeed([next, envs.map((one) => (one === env ? next : one))] as const)
        }),
      removeEnv: (uuid: string, envUuid: string) =>
        transactEnvs(uuid, (envs) =>
          envs.some((env) => env.uuid === envUuid)
            ? Effect.succeed([undefined, envs.filter((env) => env.uuid !== envUuid)] as const)
            : Effect.fail(Refused.missing("Environment variable"))),
      /** Queues a deployment; undefined if the application has one queued already. */
      deploy: (uuid: string) =>
        Effect.flatMap(held, (hold) =>
          transact<CoolifyDeployment | undefined>((now) =>
            Effect.map(find(now, uuid), () => {
              if (
                now.deployments.some(({ resource_uuid, status }) =>
                  resource_uuid === uuid && status === "queued"
                )
              ) {
                return [undefined, now] as const
              }
              const deployment: CoolifyDeployment = {
                deployment_uuid: makeUuid(),
                resource_uuid: uuid,
                status: hold ? "queued" : "finished"
              }
              return [deployment, { ...now, deployments: [...now.deployments, deployment] }] as const
            })
          )),
      deployment: (uuid: string) =>
        Effect.flatMap(store.contents, ({ deployments }) => {
          const found = deployments.find(({ deployment_uuid }) => deployment_uuid === uuid)
          return found === undefined ? Effect.fail(Refused.missing("Deployment")) : Effect.succeed(found)
        }),
      /** Keeps deployments queued instead of finishing them at once. */
      holdDeployments: (hold: boolean) => Ref.set(held, hold)
    }
  })
