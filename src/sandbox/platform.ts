import { Effect, Redacted, type Scope, Struct } from "effect"
import {
  decodeRequestBody,
  type DoubleReply,
  type DoubleRequest,
  type HttpDouble,
  makeHttpDouble,
  Refused,
  type SandboxFailed
} from "./httpDouble.ts"
import {
  type Application,
  ApplicationChanges,
  type ApplicationEnv,
  buildPlatformContents,
  changeApplication,
  checkPlaces,
  defaultPlatform,
  EnvFields,
  makeApplication,
  makeApplicationStore,
  makeUuid,
  NewApplication,
  type PlatformContents,
  type PlatformSeed
} from "./records.ts"

export const replyOk = (body: unknown): DoubleReply => ({ status: 200, body })
export const replyCreated = (body: unknown): DoubleReply => ({ status: 201, body })

const refused = ({ fields, what, why }: Refused): DoubleReply => {
  switch (why) {
    case "missing":
      return { status: 404, body: { message: `${what} not found.` } }
    case "taken":
      return { status: 409, body: { message: `${what} already exists. Use PATCH request to update it.` } }
    case "invalid":
      return { status: 422, body: { message: "Validation failed.", errors: fields } }
  }
}

/** Starts a platform on a free loopback port; requires `Authorization: Bearer <token>`. */
export const makePlatformServer = (
  token: Redacted.Redacted,
  answer: (request: DoubleRequest) => Effect.Effect<DoubleReply, Refused>
): Effect.Effect<HttpDouble, SandboxFailed, Scope.Scope> =>
  makeHttpDouble({
    part: "platform",
    authorization: Redacted.make(`Bearer ${Redacted.value(token)}`),
    unauthorized: { status: 401, body: { message: "Unauthenticated." } },
    handle: (request) => Effect.catchAll(answer(request), (why) => Effect.succeed(refused(why)))
  })

/** In-memory platform. The doubles format its responses. */
type PlatformState = Effect.Effect.Success<ReturnType<typeof makePlatformState>>

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

/** Test double of a platform with the specification's neutral API. */
export interface PlatformDouble extends HttpDouble {
  readonly token: Redacted.Redacted
  readonly state: PlatformState
}

/** Fields of an application in lists. */
const listed = (application: Application) => Struct.omit(application, "manual_webhook_secret_githost")

const newApplication = decodeRequestBody("Application", NewApplication)
const applicationChanges = decodeRequestBody("Application", ApplicationChanges)
const envFields = decodeRequestBody("Environment variable", EnvFields)

const answer = (state: PlatformState, { body, method, query, segments }: DoubleRequest) => {
  const [collection = "", uuid = "", part, id = "", ...more] = segments
  const shape = `${method} ${[collection, uuid && "{uuid}", part, id && "{id}", ...more].filter(Boolean).join("/")}`
  switch (shape) {
    case "GET applications":
      return Effect.map(state.applications, (all) => replyOk(all.map(listed)))
    case "GET applications/{uuid}":
      return Effect.map(state.application(uuid), replyOk)
    case "POST applications/{uuid}":
      return uuid === "private-deploy-key"
        ? newApplication(body).pipe(Effect.flatMap(state.create), Effect.map(replyCreated))
        : Effect.fail(Refused.missing("Resource"))
    case "PATCH applications/{uuid}":
      return applicationChanges(body).pipe(
        Effect.flatMap((changes) => state.update(uuid, changes)),
        Effect.map(replyOk)
      )
    case "DELETE applications/{uuid}":
      return Effect.as(state.remove(uuid), replyOk({ message: "Application deletion request queued." }))
    case "GET applications/{uuid}/envs":
      return Effect.map(state.envs(uuid), replyOk)
    case "POST applications/{uuid}/envs":
      return envFields(body).pipe(Effect.flatMap((fields) => state.createEnv(uuid, fields)), Effect.map(replyCreated))
    case "PATCH applications/{uuid}/envs/{id}":
      return envFields(body).pipe(
        Effect.flatMap((fields) => state.updateEnv(uuid, Number(id), fields)),
        Effect.map(replyOk)
      )
    case "DELETE applications/{uuid}/envs/{id}":
      return Effect.as(state.removeEnv(uuid, Number(id)), replyOk({ message: "Environment variable deleted." }))
    case "GET deploy":
      return Effect.map(
        state.deploy(query["uuid"] ?? "", query["force"] === "true"),
        ({ deployment_uuid, resource_uuid }) =>
          replyOk({ deployments: [{ message: "Deployment request queued.", resource_uuid, deployment_uuid }] })
      )
    case "GET servers":
      return Effect.succeed(replyOk(state.servers))
    default:
      return Effect.fail(Refused.missing("Resource"))
  }
}

/**
 * Starts a platform on a free loopback port; requires `Authorization: Bearer <token>`. Holds the server, project and
 * private key of `defaultPlatform` unless the seed names others.
 */
export const makePlatformDouble = (options: {
  readonly token: Redacted.Redacted
  readonly seed?: PlatformSeed
}): Effect.Effect<PlatformDouble, SandboxFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const state = yield* makePlatformState(options.seed)
    const double = yield* makePlatformServer(options.token, (request) => answer(state, request))
    return { ...double, token: options.token, state }
  })
