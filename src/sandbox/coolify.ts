import { Effect, type Redacted, Ref, type Scope } from "effect"
import {
  changeApp,
  changeEnv,
  type CoolifyApp,
  CoolifyChanges,
  type CoolifyEnv,
  CoolifyEnvFields,
  CoolifyNew,
  type CoolifySeed,
  dropUnknownServices,
  makeBareApp,
  makeEnvTwins,
  redactApp,
  redactEnv,
  withoutUnknownDomains
} from "./coolifyRecords.ts"
import {
  decodeRequestBody,
  type DoubleReply,
  type DoubleRequest,
  type HttpDouble,
  Refused,
  type SandboxFailed
} from "./httpDouble.ts"
import { makePlatformServer, replyCreated, replyOk } from "./platform.ts"
import { checkPlaces, defaultPlatform, makeApplicationStore, makeUuid, type StoredContents } from "./records.ts"

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
type CoolifyState = Effect.Effect.Success<ReturnType<typeof makeCoolifyState>>

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

const needsCompose =
  "Cannot set docker_compose_domains without docker_compose_raw. Reload the compose file from the git " +
  "repository first."

/** Checks of Coolify that involve several fields. */
const checked = (buildPack: string, changes: CoolifyChanges): Effect.Effect<void, Refused> => {
  if (buildPack === "dockercompose" && changes.domains !== undefined) return Effect.fail(refusedField("domains"))
  if (buildPack !== "dockercompose" && changes.docker_compose_domains !== undefined) {
    return Effect.fail(refusedField("docker_compose_domains"))
  }
  const addresses = changes.docker_compose_domains?.flatMap(({ domain }) => domain?.split(",") ?? []) ?? []
  return new Set(addresses).size < addresses.length
    ? Effect.fail(refusedField("docker_compose_domains", "The current request contains conflicting URLs."))
    : Effect.void
}

const makeCoolifyState = (seed: CoolifySeed = {}) =>
  Effect.gen(function*() {
    const places = { ...defaultPlatform, ...seed }
    const store = yield* makeApplicationStore(seeded(seed))
    const { find, transact, transactEnvs } = store
    const held = yield* Ref.make(false)
    const reads = yield* Ref.make(0)
    const { composeFile = "services:\n  web: {}\n", loadsAfter = 0 } = seed
    const load = (app: CoolifyApp): CoolifyApp =>
      app.build_pack === "dockercompose" && app.docker_compose_raw === null
        ? withoutUnknownDomains({ ...app, docker_compose_raw: composeFile })
        : app

    return {
      servers: places.servers,
      project: findReferenced("Project", places.projects),
      privateKey: findReferenced("Private Key", places.privateKeys),
      apps: store.applications,
      app: store.application,
      /** Reads an application, whose compose file is loaded in the background. */
      read: (uuid: string) =>
        Effect.flatMap(Ref.getAndUpdate(reads, (count) => count + 1), (count) =>
          transact((now) =>
            Effect.map(find(now, uuid), (app) => {
              const next = count < loadsAfter ? app : load(app)
              return [next, {
                ...now,
                applications: now.applications.map((one) => (one === app ? next : one))
              }] as const
            })
          )),
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
            if (changes.docker_compose_domains !== undefined && app.docker_compose_raw === null) {
              return yield* refusedField("docker_compose_domains", needsCompose)
            }
            const next = changeApp(app, dropUnknownServices(app, changes))
            return [next, { ...now, applications: now.applications.map((one) => (one === app ? next : one)) }] as const
          })
        ),
      createEnv: (uuid: string, fields: CoolifyEnvFields) =>
        transactEnvs(uuid, (envs, id) => {
          const preview = fields.is_preview ?? false
          if (
            envs.some((env) =>
              env.key === fields.key && env.is_preview === preview
            )
          ) {
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
          const found = deployments.find(({ deployment_uuid }) =>
            deployment_uuid === uuid
          )
          return found === undefined ? Effect.fail(Refused.missing("Deployment")) : Effect.succeed(found)
        }),
      /** Keeps deployments queued instead of finishing them at once. */
      holdDeployments: (hold: boolean) => Ref.set(held, hold)
    }
  })

/** Test double of Coolify v4. Its API is under `/api/v1`, which `url` does not contain. */
export interface CoolifyDouble extends HttpDouble {
  readonly token: Redacted.Redacted
  readonly state: CoolifyState
}

const newApplication = decodeRequestBody("Application", CoolifyNew)
const applicationChanges = decodeRequestBody("Application", CoolifyChanges)
const envFields = decodeRequestBody("Environment variable", CoolifyEnvFields)

const deployed = (state: CoolifyState, { query }: DoubleRequest) => {
  const uuid = query["uuid"] ?? ""
  return Effect.map(state.deploy(uuid), (deployment) =>
    replyOk({
      deployments: [
        deployment === undefined
          ? { message: "Deployment already queued for this commit.", resource_uuid: uuid }
          : { message: "Deployment request queued.", resource_uuid: uuid, deployment_uuid: deployment.deployment_uuid }
      ]
    }))
}

const answer = (state: CoolifyState, mayRead: boolean, request: DoubleRequest): Effect.Effect<DoubleReply, Refused> => {
  const { body, method, segments } = request
  const [api, version, collection = "", uuid = "", part, id = "", ...more] = segments
  if (api !== "api" || version !== "v1" || more.length > 0) return Effect.fail(Refused.missing("Resource"))
  const shape = `${method} ${[collection, uuid && "{uuid}", part, id && "{id}"].filter(Boolean).join("/")}`
  if (method === "GET" && collection === "security" && uuid === "keys" && part !== undefined && id === "") {
    return Effect.map(
      state.privateKey(part),
      (key) => replyOk({ ...key, ...(mayRead ? { private_key: "PRIVATE" } : {}) })
    )
  }
  switch (shape) {
    case "GET version":
      return Effect.succeed(replyOk("4.3.11"))
    case "GET servers":
      return Effect.succeed(replyOk(state.servers))
    case "GET projects/{uuid}":
      return Effect.map(state.project(uuid), replyOk)
    case "GET applications":
      return Effect.map(state.apps, (all) => replyOk(all.map((app) => redactApp(app, { full: false, mayRead }))))
    case "GET applications/{uuid}":
      return Effect.map(state.read(uuid), (app) => replyOk(redactApp(app, { full: true, mayRead })))
    case "POST applications/{uuid}":
      return uuid === "private-deploy-key"
        ? newApplication(body).pipe(
          Effect.flatMap(state.create),
          Effect.map((app) => replyCreated({ uuid: app.uuid, domains: app.fqdn }))
        )
        : Effect.fail(Refused.missing("Resource"))
    case "PATCH applications/{uuid}":
      return applicationChanges(body).pipe(
        Effect.flatMap((changes) => state.update(uuid, changes)),
        Effect.as(replyOk({ uuid }))
      )
    case "DELETE applications/{uuid}":
      return Effect.as(state.remove(uuid), replyOk({ message: "Application deletion request queued." }))
    case "GET applications/{uuid}/envs":
      return Effect.map(state.envs(uuid), (envs) => replyOk(envs.map((env) => redactEnv(env, mayRead))))
    case "POST applications/{uuid}/envs":
      return envFields(body).pipe(
        Effect.flatMap((fields) => state.createEnv(uuid, fields)),
        Effect.map((env) => replyCreated({ uuid: env.uuid }))
      )
    case "PATCH applications/{uuid}/envs":
      return envFields(body).pipe(
        Effect.flatMap((fields) => state.updateEnv(uuid, fields)),
        Effect.map((env) => replyCreated(redactEnv(env, mayRead)))
      )
    case "DELETE applications/{uuid}/envs/{id}":
      return Effect.as(state.removeEnv(uuid, id), replyOk({ message: "Environment variable deleted." }))
    case "POST deploy":
      return deployed(state, request)
    case "GET deploy":
      return Effect.succeed({ status: 405, body: { message: "Method Not Allowed" } })
    case "GET deployments/{uuid}":
      return Effect.map(state.deployment(uuid), replyOk)
    default:
      return Effect.fail(Refused.missing("Resource"))
  }
}

/**
 * Starts a Coolify double on a free loopback port; requires `Authorization: Bearer <token>`.
 * @param options `sensitive: false` removes the ability `read:sensitive` from the token
 */
export const makeCoolifyDouble = (options: {
  readonly token: Redacted.Redacted
  readonly seed?: CoolifySeed
  readonly sensitive?: boolean
}): Effect.Effect<CoolifyDouble, SandboxFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const state = yield* makeCoolifyState(options.seed)
    const double = yield* makePlatformServer(options.token, (request) =>
      answer(state, options.sensitive !== false, request))
    return { ...double, token: options.token, state }
  })
