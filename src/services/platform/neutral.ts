import { Effect, Option, Redacted, Schema } from "effect"
import { Disclosed } from "../../schema/Disclosed.ts"
import { type AppEnv, EnvVar, PlatformRecord, PlatformServer, PlatformUnavailable } from "../../schema/PlatformApp.ts"
import { Platform } from "./Platform.ts"
import { type PlatformProfile, understood } from "./profile.ts"

const asApps = understood("GET /applications", Schema.Array(PlatformRecord))
const asApp = understood("GET /applications/{uuid}", PlatformRecord)
const asEnvs = understood("GET /applications/{uuid}/envs", Schema.Array(EnvVar))
const asServers = understood("GET /servers", Schema.Array(PlatformServer))

const disclosed = (record: EnvVar): AppEnv => ({
  record,
  value: record.value === undefined || record.value === null
    ? Disclosed.Absent()
    : Disclosed.Known({ value: String(record.value) })
})

const idOf = ({ record }: AppEnv) =>
  record.id === undefined || record.id === null
    ? new PlatformUnavailable({ call: "GET /applications/{uuid}/envs", reason: `${record.key} came without an id` })
    : Effect.succeed(String(record.id))

const written = (key: string, value: string) => ({ key, value, is_preview: false })

/** A platform that speaks Berth's own words: nothing is translated. */
export const neutral: PlatformProfile = ({ send, webhookBase }) => {
  const application = (uuid: string) => Effect.flatMap(send({ method: "GET", path: ["applications", uuid] }), asApp)
  const updateApplication: Platform["Type"]["updateApplication"] = (uuid, fields) =>
    send({ method: "PATCH", path: ["applications", uuid], body: fields })

  const applications = Effect.flatMap(send({ method: "GET", path: ["applications"] }), asApps)

  return Platform.of({
    applications,
    application: (uuid) => application(uuid),
    declared: (app) => Effect.succeed(app),
    createApplication: (fields) => send({ method: "POST", path: ["applications", "private-deploy-key"], body: fields }),
    updateApplication,
    deleteApplication: (uuid) => send({ method: "DELETE", path: ["applications", uuid] }),
    setDomain: ({ uuid }, url) => Effect.asVoid(updateApplication(uuid, { fqdn: url })),
    clearDomains: (uuid) => Effect.asVoid(updateApplication(uuid, { domains: "" })),
    envs: (uuid) =>
      send({ method: "GET", path: ["applications", uuid, "envs"] }).pipe(
        Effect.flatMap(asEnvs),
        Effect.map((envs) => envs.map(disclosed))
      ),
    createEnv: (uuid, key, value) =>
      send({ method: "POST", path: ["applications", uuid, "envs"], body: written(key, value) }),
    updateEnv: (uuid, env, value) =>
      Effect.flatMap(
        idOf(env),
        (id) =>
          send({ method: "PATCH", path: ["applications", uuid, "envs", id], body: written(env.record.key, value) })
      ),
    deleteEnv: (uuid, env) =>
      Effect.flatMap(idOf(env), (id) => send({ method: "DELETE", path: ["applications", uuid, "envs", id] })),
    deploy: (uuid) =>
      Effect.map(
        send({ method: "GET", path: ["deploy"], query: { uuid, force: "true" }, changes: true }),
        (body) => ({ body, notQueued: Option.none() })
      ),
    servers: Effect.flatMap(send({ method: "GET", path: ["servers"] }), asServers),
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
    webhookUrl: Effect.map(webhookBase, (base) => `${base}/webhooks/source/githost/events/manual`),
    check: Effect.map(applications, ({ length }) => [{
      name: "platform",
      ok: true,
      detail: `it lists ${length} application${length === 1 ? "" : "s"}`
    }])
  })
}
