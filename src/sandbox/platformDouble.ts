import { Effect, type Redacted, type Scope, Struct } from "effect"
import { decodeRequestBody } from "./doubles/decodeRequestBody.ts"
import type { DoubleRequest, HttpDouble } from "./doubles/httpDouble.ts"
import { ApplicationChanges, EnvFields, NewApplication } from "./doubles/platformFields.ts"
import type { Application, PlatformSeed } from "./doubles/platformRecords.ts"
import { makePlatformServer, replyCreated, replyOk } from "./doubles/platformServer.ts"
import { makePlatformState, type PlatformState } from "./doubles/platformState.ts"
import { Refused } from "./doubles/Refused.ts"
import type { SandboxFailed } from "./ports/SandboxFailed.ts"

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
