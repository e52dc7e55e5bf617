import { Effect, Option, Predicate, Redacted } from "effect"
import { type AppEnv, PlatformUnavailable, type Raw } from "../../schema/applications/PlatformApp.ts"
import { Disclosed } from "../../schema/basics/Disclosed.ts"
import { pluralize } from "../../schema/words/pluralize.ts"
import { describeRefusal } from "./describeRefusal.ts"
import { Platform } from "./Platform.ts"
import { listLimit, type PlatformProfile } from "./PlatformProfile.ts"
import { decodeApp, decodeApps, decodeEnvs, decodeServers, formatEnvValue, readEnvKey } from "./records.ts"

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
export const neutral: PlatformProfile = {
  authentication: { header: "authorization", scheme: "Bearer" },
  refusal: describeRefusal,
  operations
}
