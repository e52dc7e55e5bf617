import { Effect, Layer, Option, Predicate, Record as Rec, Redacted } from "effect"
import { type AppEnv, Disclosed, PlatformUnavailable, type Raw } from "../../schema/applications.ts"
import type { SettingValue } from "../../schema/settings.ts"
import { pluralize } from "../../schema/words.ts"
import { Settings } from "../settings/Settings.ts"
import { Upstream } from "../upstream/Upstream.ts"
import { coolify } from "./coolify.ts"
import {
  decodeApp,
  decodeApps,
  decodeEnvs,
  decodeServers,
  describeRefusal,
  formatEnvValue,
  listLimit,
  makePlatformConnection,
  Platform,
  type PlatformCall,
  type PlatformProfile,
  readEnvKey
} from "./Platform.ts"

const disclosed = (record: Raw): AppEnv => ({
  key: readEnvKey(record),
  record,
  value: record["value"] === undefined || record["value"] === null
    ? Disclosed.Absent()
    : Disclosed.Known({ value: formatEnvValue(record["value"]) })
})

const idOf = ({ key, record: { id } }: AppEnv) =>
  Predicate.isString(id) || Predicate.isNumber(id)
    ? Effect.succeed(String(id))
    : new PlatformUnavailable({ call: "GET /applications/{uuid}/envs", reason: `${key} came without an id` })

const written = (key: string, value: string) => ({ key, value, is_preview: false })

const operations: PlatformProfile["operations"] = ({ send, webhookBase }) => {
  const application = (uuid: string) =>
    Effect.flatMap(send({ method: "GET", path: ["applications", uuid] }), decodeApp(uuid))
  const updateApplication: Platform["Type"]["updateApplication"] = (uuid, fields) =>
    send({ method: "PATCH", path: ["applications", uuid], body: fields })

  const applications = Effect.flatMap(send({ method: "GET", path: ["applications"], limit: listLimit }), decodeApps)
  const envsBody = (uuid: string) => send({ method: "GET", path: ["applications", uuid, "envs"] })
  const webhookUrl = Effect.map(webhookBase, (base) => `${base}/webhooks/source/githost/events/manual`)
  const serversBody = send({ method: "GET", path: ["servers"] })

  return Platform.of({
    applications,
    application: (uuid) => application(uuid),
    declared: (app) => Effect.succeed(app),
    createApplication: (fields) => send({ method: "POST", path: ["applications", "private-deploy-key"], body: fields }),
    updateApplication,
    deleteApplication: (uuid) => send({ method: "DELETE", path: ["applications", uuid] }),
    setDomain: ({ uuid }, url) => Effect.asVoid(updateApplication(uuid, { fqdn: url })),
    clearDomains: (uuid) => Effect.asVoid(updateApplication(uuid, { domains: "" })),
    envs: (uuid) => envsBody(uuid).pipe(Effect.flatMap(decodeEnvs), Effect.map((envs) => envs.map(disclosed))),
    envsBody,
    createEnv: (uuid, key, value) =>
      send({
        method: "POST",
        path: ["applications", uuid, "envs"],
        body: written(key, value),
        secrets: [Redacted.make(value)]
      }),
    updateEnv: (uuid, env, value) =>
      Effect.flatMap(
        idOf(env),
        (id) =>
          send({
            method: "PATCH",
            path: ["applications", uuid, "envs", id],
            body: written(env.key, value),
            secrets: [Redacted.make(value)]
          })
      ),
    deleteEnv: (uuid, env) =>
      Effect.flatMap(idOf(env), (id) => send({ method: "DELETE", path: ["applications", uuid, "envs", id] })),
    deploy: (uuid) =>
      Effect.map(
        send({ method: "GET", path: ["deploy"], query: { uuid, force: "true" }, changes: true }),
        (body) => ({ body, notQueued: Option.none() })
      ),
    // The neutral API has no call for these.
    projectName: () => Effect.succeed(Disclosed.Hidden({ reason: "the platform does not tell its projects" })),
    privateKeyName: () => Effect.succeed(Disclosed.Hidden({ reason: "the platform does not list its keys" })),
    servers: Effect.flatMap(serversBody, decodeServers),
    serversBody,
    setWebhookSecret: (uuid, secret) =>
      Effect.asVoid(
        send({
          method: "PATCH",
          path: ["applications", uuid],
          body: { manual_webhook_secret_githost: Redacted.value(secret) },
          secrets: [secret]
        })
      ),
    webhookSecretSet: (uuid) =>
      Effect.map(
        application(uuid),
        ({ manual_webhook_secret_githost: secret }) =>
          Disclosed.Known({ value: Option.exists(Option.fromNullable(secret), (text) => text !== "") })
      ),
    webhookUrl,
    webhookUrlOf: () => webhookUrl,
    check: Effect.map(applications, ({ length }) => [{
      name: "platform",
      ok: true,
      detail: `it lists ${pluralize(length, "application")}`
    }])
  })
}

/** Platform with Berth's own API; needs no translation. */
const neutral: PlatformProfile = {
  authentication: { header: "authorization", scheme: "Bearer" },
  refusal: describeRefusal,
  operations
}

/** Supported platforms, by their name in the setting `platform.profile`. */
const profiles: Readonly<Record<SettingValue<"platform.profile">, PlatformProfile>> = {
  neutral,
  coolify
}

const make = Effect.gen(function*() {
  const settings = yield* Settings
  const upstream = yield* Upstream

  const platforms = Rec.map(
    profiles,
    (profile) => profile.operations(makePlatformConnection(settings, upstream, profile))
  )
  const inUse = Effect.map(settings.get("platform.profile"), (profile) => platforms[profile])
  const call = <A>(operation: (platform: Platform["Type"]) => PlatformCall<A>) => Effect.flatMap(inUse, operation)

  return Platform.of({
    applications: call((platform) => platform.applications),
    application: (uuid, wanted) => call((platform) => platform.application(uuid, wanted)),
    declared: (app, wanted) => call((platform) => platform.declared(app, wanted)),
    createApplication: (fields, served) => call((platform) => platform.createApplication(fields, served)),
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
