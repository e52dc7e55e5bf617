import { Effect, type Redacted, type Scope } from "effect"
import { CoolifyChanges, CoolifyEnvFields, CoolifyNew } from "./doubles/coolifyFields.ts"
import { type CoolifySeed, redactApp, redactEnv } from "./doubles/coolifyRecords.ts"
import { type CoolifyState, makeCoolifyState } from "./doubles/coolifyState.ts"
import { decodeRequestBody } from "./doubles/decodeRequestBody.ts"
import type { DoubleRequest, HttpDouble } from "./doubles/httpDouble.ts"
import type { DoubleReply } from "./doubles/httpFault.ts"
import { makePlatformServer, replyCreated, replyOk } from "./doubles/platformServer.ts"
import { Refused } from "./doubles/Refused.ts"
import type { SandboxFailed } from "./ports/SandboxFailed.ts"

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
      return Effect.map(state.app(uuid), (app) => replyOk(redactApp(app, { full: true, mayRead })))
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
