import { Effect, Layer, Option, Redacted } from "effect"
import { PlatformRefused, PlatformTimeout, PlatformUnavailable } from "../../schema/PlatformApp.ts"
import type { Unsendable, UpstreamFailure } from "../../schema/Upstream.ts"
import { Settings } from "../settings/Settings.ts"
import { Upstream } from "../upstream/Upstream.ts"
import { coolify } from "./coolify.ts"
import { neutral } from "./neutral.ts"
import { Platform } from "./Platform.ts"
import type { PlatformCall } from "./Platform.ts"
import { type PlatformConnection, type PlatformProfile, usualLimit } from "./profile.ts"

type Failure = PlatformRefused | PlatformUnavailable | PlatformTimeout | Unsendable

const inDomainWords = (error: UpstreamFailure): Failure => {
  switch (error._tag) {
    case "UpstreamRefused":
      return new PlatformRefused({ upstream: error.upstream, words: error.words })
    case "UpstreamUnavailable":
      return new PlatformUnavailable({ call: error.call, reason: error.reason })
    case "UpstreamTimeout":
      return new PlatformTimeout({ call: error.call, seconds: error.seconds })
    case "PathSegmentRefused":
    case "BodyRefused":
      return error
  }
}

const make = Effect.gen(function*() {
  const settings = yield* Settings
  const upstream = yield* Upstream

  const connectionOf = ({ authentication, refusal }: PlatformProfile): PlatformConnection => ({
    send: Effect.fn("Platform.send")(function*({ body, changes, limit, method, path, plain, query, secrets }) {
      const { get } = yield* settings.now
      const base = yield* get("platform.url")
      const token = yield* get("platform.token")
      const timeout = yield* get("platform.timeout")
      const answer = yield* Effect.mapError(
        upstream.send({
          method,
          base,
          path,
          timeout,
          limit: limit ?? usualLimit,
          authentication: { ...authentication, token },
          refusal,
          idempotent: method === "GET" && changes !== true,
          ...(plain === undefined ? {} : { plain }),
          ...(query === undefined ? {} : { query }),
          ...(body === undefined ? {} : { body }),
          ...(secrets === undefined ? {} : { secrets })
        }),
        inDomainWords
      )
      return answer.body
    }),
    webhookBase: Effect.gen(function*() {
      const base = yield* settings.find("platform.webhookUrl")
      const url = Option.isSome(base) ? base.value : new URL(yield* settings.get("platform.url")).origin
      return url.replace(/(?<!\/)\/+$/, "")
    }),
    webhookSecret: Effect.map(
      settings.find("gitHost.webhookSecret"),
      Option.getOrElse(() => Redacted.make(""))
    )
  })

  const operationsOf = (profile: PlatformProfile) => profile.operations(connectionOf(profile))
  const profiles = { neutral: operationsOf(neutral), coolify: operationsOf(coolify) }
  const inUse = Effect.map(settings.get("platform.profile"), (profile) => profiles[profile])
  const call = <A>(operation: (platform: Platform["Type"]) => PlatformCall<A>) => Effect.flatMap(inUse, operation)

  return Platform.of({
    applications: call((platform) => platform.applications),
    application: (uuid, wanted) => call((platform) => platform.application(uuid, wanted)),
    declared: (app, wanted) => call((platform) => platform.declared(app, wanted)),
    createApplication: (fields) => call((platform) => platform.createApplication(fields)),
    updateApplication: (uuid, fields) => call((platform) => platform.updateApplication(uuid, fields)),
    deleteApplication: (uuid) => call((platform) => platform.deleteApplication(uuid)),
    setDomain: (app, url, service) => call((platform) => platform.setDomain(app, url, service)),
    clearDomains: (uuid) => call((platform) => platform.clearDomains(uuid)),
    envs: (uuid) => call((platform) => platform.envs(uuid)),
    envsBody: (uuid) => call((platform) => platform.envsBody(uuid)),
    createEnv: (uuid, key, value) => call((platform) => platform.createEnv(uuid, key, value)),
    updateEnv: (uuid, env, value) => call((platform) => platform.updateEnv(uuid, env, value)),
    deleteEnv: (uuid, env) => call((platform) => platform.deleteEnv(uuid, env)),
    deploy: (uuid) => call((platform) => platform.deploy(uuid)),
    projectName: (uuid) => call((platform) => platform.projectName(uuid)),
    privateKeyName: (uuid) => call((platform) => platform.privateKeyName(uuid)),
    servers: call((platform) => platform.servers),
    serversBody: call((platform) => platform.serversBody),
    setWebhookSecret: (uuid, secret) => call((platform) => platform.setWebhookSecret(uuid, secret)),
    webhookSecretSet: (uuid) => call((platform) => platform.webhookSecretSet(uuid)),
    webhookUrl: Effect.flatMap(inUse, (platform) => platform.webhookUrl),
    webhookUrlOf: (uuid) => Effect.flatMap(inUse, (platform) => platform.webhookUrlOf(uuid)),
    check: call((platform) => platform.check)
  })
})

/** The platform at the address that the settings name, in the words of the profile that they name. */
export const PlatformLive: Layer.Layer<Platform, never, Settings | Upstream> = Layer.effect(Platform, make)
