import { Effect, Layer, Record } from "effect"
import { Settings } from "../settings/Settings.ts"
import { Upstream } from "../upstream/Upstream.ts"
import { makePlatformConnection } from "./makePlatformConnection.ts"
import { Platform, type PlatformCall } from "./Platform.ts"
import { profiles } from "./profiles.ts"

const make = Effect.gen(function*() {
  const settings = yield* Settings
  const upstream = yield* Upstream

  const platforms = Record.map(
    profiles,
    (profile) => profile.operations(makePlatformConnection(settings, upstream, profile))
  )
  const inUse = Effect.map(settings.get("platform.profile"), (profile) => platforms[profile])
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

/** Platform at the address in the settings, through the profile in the settings. */
export const PlatformLive: Layer.Layer<Platform, never, Settings | Upstream> = Layer.effect(Platform, make)
