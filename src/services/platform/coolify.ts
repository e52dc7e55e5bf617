import { Effect, Option, Predicate, Redacted, Schema } from "effect"
import type { AppEnv, Raw } from "../../schema/applications/PlatformApp.ts"
import { Disclosed } from "../../schema/basics/Disclosed.ts"
import { checkCoolify } from "./coolifyCheck.ts"
import { adoptSpelling, toCoolify, toNeutral, toNeutralWords } from "./coolifyWords.ts"
import { describeRefusal } from "./describeRefusal.ts"
import { makeCoolifyDomains } from "./makeCoolifyDomains.ts"
import { type AppFields, Platform, type PlatformCall } from "./Platform.ts"
import { listLimit, type PlatformProfile } from "./PlatformProfile.ts"
import {
  decodeApp,
  decodeApps,
  decodeEnvs,
  decodeRecord,
  decodeServers,
  formatEnvValue,
  readEnvKey
} from "./records.ts"

const abilityLacking = "the token in platform.token lacks the ability read:sensitive: give it that in Coolify, " +
  "under Keys & Tokens"

const each = (change: (one: unknown) => unknown) => (body: unknown) => (Array.isArray(body) ? body.map(change) : body)
const isPreview = (env: unknown) => Predicate.isRecord(env) && env["is_preview"] === true

/** A variable goes by its uuid. */
const neutralEnv = (env: unknown): unknown =>
  Predicate.isRecord(env) && Predicate.isString(env["uuid"]) ? { ...env, id: env["uuid"] } : env

/** A token without `read:sensitive` gets records without values. */
const disclosed = (record: Raw): AppEnv => {
  const values = ["value", "real_value"].flatMap((field) => (field in record ? [record[field]] : []))
  const value = values.find(Predicate.isNotNullable)
  return {
    key: readEnvKey(record),
    record,
    value: values.length === 0
      ? Disclosed.Hidden({ reason: abilityLacking })
      : value === undefined
      ? Disclosed.Absent()
      : Disclosed.Known({ value: formatEnvValue(value) })
  }
}

/** Flags that Coolify resets unless a change repeats them. */
const currentFlags = ({ record }: AppEnv) =>
  Object.fromEntries(
    ["is_literal", "is_multiline", "is_shown_once"].flatMap((flag) =>
      Predicate.isBoolean(record[flag]) ? [[flag, record[flag]]] : []
    )
  )

const Deployments = Schema.Struct({
  deployments: Schema.Array(
    Schema.Struct({
      message: Schema.optional(Schema.NullOr(Schema.String)),
      deployment_uuid: Schema.optional(Schema.NullOr(Schema.String))
    })
  )
})
const asDeployments = Schema.decodeUnknownOption(Deployments)

/** Reason why no deployment was queued, if none was. */
const notQueued = (body: unknown): Option.Option<string> =>
  asDeployments(body).pipe(
    Option.filter(({ deployments }) =>
      !deployments.some(({ deployment_uuid: uuid }) => Predicate.isString(uuid) && uuid !== "")
    ),
    Option.map(({ deployments }) =>
      deployments.flatMap(({ message }) => (Predicate.isString(message) ? [message] : [])).join("; ") ||
      "it gave no reason"
    )
  )

const operations: PlatformProfile["operations"] = ({ send, webhookBase, webhookSecret }) => {
  const application = (uuid: string, wanted: AppFields = {}) =>
    send({ method: "GET", path: ["applications", uuid] }).pipe(
      Effect.map(toNeutral),
      Effect.map((body) => Predicate.isRecord(body) ? adoptSpelling(body, wanted) : body),
      Effect.flatMap(decodeApp(uuid))
    )
  const patch = (uuid: string, body: AppFields, secrets: ReadonlyArray<Redacted.Redacted> = []) =>
    Effect.map(send({ method: "PATCH", path: ["applications", uuid], body, secrets }), toNeutral)

  const applications = send({ method: "GET", path: ["applications"], limit: listLimit }).pipe(
    Effect.map(each(toNeutral)),
    Effect.flatMap(decodeApps)
  )
  const envsBody = (uuid: string) =>
    send({ method: "GET", path: ["applications", uuid, "envs"] }).pipe(
      Effect.map(each(neutralEnv)),
      // Each variable comes a second time, for previews.
      Effect.map((body) => Array.isArray(body) ? body.filter((env) => !isPreview(env)) : body)
    )
  const envs = (uuid: string) =>
    envsBody(uuid).pipe(Effect.flatMap(decodeEnvs), Effect.map((all) => all.map(disclosed)))
  const webhookUrl = Effect.map(webhookBase, (base) => `${base}/webhooks/source/gitea/events/manual`)
  const serversBody = send({ method: "GET", path: ["servers"] })
  const nameAt = (path: ReadonlyArray<string>): PlatformCall<Disclosed<string>> =>
    send({ method: "GET", path }).pipe(
      Effect.map((body) => Disclosed.Known({ value: Predicate.isReadonlyRecord(body) ? decodeRecord(body).name : "" })),
      Effect.catchIf(
        (error) => error._tag === "PlatformRefused" && error.upstream === 404,
        () => Effect.succeed(Disclosed.Absent())
      )
    )

  return Platform.of({
    applications,
    application,
    declared: ({ uuid }, wanted) => application(uuid, wanted),
    createApplication: (fields) =>
      Effect.map(
        send({
          method: "POST",
          path: ["applications", "private-deploy-key"],
          // An address of Coolify's own making could not be taken from a compose stack again.
          body: { ...toCoolify(fields), autogenerate_domain: false }
        }),
        toNeutral
      ),
    ...makeCoolifyDomains({ application, patch }),
    deleteApplication: (uuid) => send({ method: "DELETE", path: ["applications", uuid] }),
    clearDomains: (uuid) => Effect.asVoid(patch(uuid, { domains: "" })),
    envs,
    envsBody,
    createEnv: (uuid, key, value) =>
      Effect.map(
        send({
          method: "POST",
          path: ["applications", uuid, "envs"],
          body: { key, value, is_preview: false },
          secrets: [Redacted.make(value)]
        }),
        neutralEnv
      ),
    updateEnv: (uuid, env, value) =>
      Effect.map(
        send({
          method: "PATCH",
          path: ["applications", uuid, "envs"],
          body: { key: env.key, value, is_preview: false, ...currentFlags(env) },
          secrets: [Redacted.make(value)]
        }),
        neutralEnv
      ),
    deleteEnv: (uuid, { record }) =>
      send({ method: "DELETE", path: ["applications", uuid, "envs", String(record["id"] ?? "")] }),
    deploy: (uuid) =>
      Effect.map(
        send({ method: "POST", path: ["deploy"], query: { uuid, force: "true" } }),
        (body) => ({ body, notQueued: notQueued(body) })
      ),
    projectName: (uuid) => nameAt(["projects", uuid]),
    privateKeyName: (uuid) => nameAt(["security", "keys", uuid]),
    servers: Effect.flatMap(serversBody, decodeServers),
    serversBody,
    setWebhookSecret: (uuid, secret) =>
      Effect.asVoid(patch(uuid, { manual_webhook_secret_gitea: Redacted.value(secret) }, [secret])),
    webhookSecretSet: (uuid) =>
      Effect.gen(function*() {
        const app = yield* application(uuid)
        if (!("manual_webhook_secret_githost" in app.raw)) return Disclosed.Hidden({ reason: abilityLacking })
        // A new application has a secret of Coolify's own making.
        const configured = Redacted.value(yield* webhookSecret)
        return Disclosed.Known({ value: configured !== "" && app.manual_webhook_secret_githost === configured })
      }),
    webhookUrl,
    webhookUrlOf: () => webhookUrl,
    check: checkCoolify(
      Effect.map(send({ method: "GET", path: ["version"], plain: true, limit: 64 * 1024 }), String),
      applications,
      envs
    )
  })
}

/** Coolify v4. Its address ends in `/api/v1`. */
export const coolify: PlatformProfile = {
  authentication: { header: "authorization", scheme: "Bearer" },
  refusal: (body) => toNeutralWords(describeRefusal(body)),
  operations
}
