import { Array as Arr, Effect, Option, Order, Predicate, Redacted, Schedule, Schema } from "effect"
import {
  type AppEnv,
  Disclosed,
  type PlatformFailure,
  type PlatformRecord,
  PlatformRefused,
  type Raw
} from "../../schema/applications.ts"
import type { Finding } from "../../schema/overview.ts"
import { pluralize, quoteInput } from "../../schema/words.ts"
import type { SettingsError } from "../settings/Settings.ts"
import { describeConflicts } from "../upstream/advice.ts"
import {
  adoptSpelling,
  findService,
  parseComposeServices,
  parseServiceDomains,
  toCoolify,
  toNeutral,
  toNeutralWords,
  withServiceDomain
} from "./coolifyWords.ts"
import {
  type AppFields,
  decodeApp,
  decodeApps,
  decodeEnvs,
  decodeRecord,
  decodeServers,
  describeRefusal,
  formatEnvValue,
  listLimit,
  Platform,
  type PlatformCall,
  type PlatformProfile,
  readEnvKey
} from "./Platform.ts"

type Version = readonly [number, number, number]
const versions = Order.tuple(Order.number, Order.number, Order.number)

/** Parses `v4.1.1` or `4.1.1-beta.3` into numbers. */
const parseVersion = (text: string): Option.Option<Version> => {
  const [, major, minor, patch] = /(?<!\d)(\d+)\.(\d+)\.(\d+)/.exec(text) ?? []
  return major === undefined ? Option.none() : Option.some([Number(major), Number(minor), Number(patch)])
}

const faults: ReadonlyArray<{ readonly from: Version; readonly mended: Version; readonly what: string }> = [{
  from: [4, 1, 1],
  mended: [4, 1, 2],
  what: "repository addresses with an SSH port of their own are mishandled"
}]

/** Makes the finding for a version of Coolify. */
export const checkVersion = (text: string): Finding => {
  const name = "platform version"
  const version = parseVersion(text)
  if (Option.isNone(version)) return { name, ok: true, detail: `Coolify, version ${text.slice(0, 40)}` }
  const number = version.value.join(".")
  const fault = faults.find(({ from, mended }) =>
    Order.between(versions)(version.value, { minimum: from, maximum: from }) ||
    (Order.greaterThan(versions)(version.value, from) && Order.lessThan(versions)(version.value, mended))
  )
  return fault === undefined
    ? { name, ok: true, detail: `Coolify ${number}` }
    : {
      name,
      ok: false,
      detail: `Coolify ${number}: ${fault.what}`,
      fix: `Update Coolify to ${fault.mended.join(".")}`
    }
}

/** True for a variable whose value Coolify tells to no token. */
const isLocked = (record: Raw) => record["is_shown_once"] === true

/** Makes the finding for the token's abilities, derived from the variables of an application. */
export const checkToken = (
  apps: ReadonlyArray<PlatformRecord>,
  envs: ReadonlyArray<AppEnv>
): Finding => {
  const name = "platform token"
  const reads = `it may read ${pluralize(apps.length, "application")}`
  const [locked, open] = Arr.partition(envs, ({ record }) => !isLocked(record))
  if (open.some(({ value }) => Disclosed.$is("Hidden")(value))) {
    return {
      name,
      ok: false,
      detail: `${reads}, and no values of variables or secrets`,
      fix: "Give the token the ability read:sensitive in Coolify, under Keys & Tokens"
    }
  }
  return open.length === 0
    ? {
      name,
      ok: true,
      detail: `${reads}; whether it may read values shows once there is a variable` +
        (locked.length === 0 ? "" : " that is not locked")
    }
    : { name, ok: true, detail: `${reads} and the values of their variables` }
}

/** Checks Coolify's version and the token's abilities. Read-only. */
const checkCoolify = <E, R, E2, R2, E3, R3>(
  version: Effect.Effect<string, E, R>,
  applications: Effect.Effect<ReadonlyArray<PlatformRecord>, E2, R2>,
  envs: (uuid: string) => Effect.Effect<ReadonlyArray<AppEnv>, E3, R3>
) =>
  Effect.gen(function*() {
    const [text, apps] = yield* Effect.all([version, applications], { concurrency: 2 })
    // A sample suffices.
    const few = apps.filter(({ uuid }) => uuid !== "").slice(0, 5)
    const variables = yield* Effect.forEach(few, ({ uuid }) => envs(uuid), { concurrency: 5 })
    return [checkVersion(text), checkToken(apps, variables.flat())]
  })

const isCompose = (buildPack: unknown) => buildPack === "composestack"
const address = (fields: AppFields) => fields["fqdn"] ?? fields["domains"]

/** Services of a compose stack; empty while Coolify does not tell its file. */
const servicesOf = ({ raw }: PlatformRecord): ReadonlyArray<string> => {
  const compose = raw["docker_compose_raw"]
  return Predicate.isString(compose) ? parseComposeServices(compose) : []
}

/** Compose service for an address: the named one, or the only one. Refuses one that Coolify's compose file lacks. */
const serviceOf = (app: PlatformRecord, service: string | undefined): PlatformCall<string> => {
  const services = servicesOf(app)
  const known = services.length === 0 ? "which Coolify does not tell yet" : `namely ${services.join(", ")}`
  if (service !== undefined) {
    return services.length === 0 || services.includes(findService(service, services))
      ? Effect.succeed(findService(service, services))
      : new PlatformRefused({
        upstream: 422,
        words:
          `its compose file in Coolify has no service ${
            quoteInput(service)
          }, and would ignore a domain of it. It has: ` +
          `${services.join(", ")}. Correct "service" in the entry of platform.json`
      })
  }
  const [only] = services
  if (only !== undefined && services.length === 1) return Effect.succeed(only)
  return new PlatformRefused({
    upstream: 422,
    words: `a domain of a compose stack belongs to one of its services, ${known}: ` +
      `name it as "service" in the entry of platform.json`
  })
}

/** Coolify reads a new application's compose file from its repository in the background; none before that. */
const awaitsCompose = ({ raw }: PlatformRecord): boolean =>
  "docker_compose_raw" in raw && (raw["docker_compose_raw"] ?? "") === ""

/** Refusal of a domain because of that, also for tokens that may not read the file. */
const isRefusedForNow = ({ words }: PlatformRefused) => /without docker_compose_raw/i.test(words)

const notLoaded = new PlatformRefused({
  upstream: 422,
  words:
    "Coolify has not loaded the compose file from the repository yet, and takes no domain before that. It does so after " +
    "the creation, or with a deployment: look there for its error if this stays, and run the upsert again"
})

/** The creation has brought the address, and nothing tells yet whether the compose file has its service. */
const unverified = new PlatformRefused({ upstream: 422, words: "its compose file is not loaded yet" })

const everyTwoSeconds = (times: number) => Schedule.intersect(Schedule.spaced("2 seconds"), Schedule.recurs(times))

const addressesIn = (text: string): ReadonlyArray<string> =>
  text.toLowerCase().split(",").map((each) => each.trim().replace(/(?<!\/)\/+$/, "")).filter((each) => each !== "")

/** True if Coolify has stored addresses for a service, under its name or the one that Coolify writes. */
const hasAddress = (app: PlatformRecord, service: string, addresses: string): boolean => {
  const stored = parseServiceDomains(app.raw["docker_compose_domains"])
    .filter(({ name }) => findService(name, [service]) === service).flatMap(({ domain }) => addressesIn(domain))
  return addressesIn(addresses).every((each) => stored.includes(each))
}

interface ApplicationCalls {
  readonly application: (uuid: string) => PlatformCall<PlatformRecord>
  readonly patch: (uuid: string, body: AppFields) => PlatformCall<unknown>
}

const toNotLoaded = <E extends PlatformFailure | SettingsError>(error: E) =>
  error._tag === "PlatformRefused" && isRefusedForNow(error) ? notLoaded : error

/** Field that gives a service an address; the other services keep theirs. */
const serviceAddress = (app: PlatformRecord, service: string, url: string): AppFields => ({
  docker_compose_domains: withServiceDomain(
    parseServiceDomains(app.raw["docker_compose_domains"]),
    service,
    url,
    servicesOf(app)
  )
})

/** Reads an address back: Coolify answers 200 where it sets nothing. */
const checkAddress = ({ application }: ApplicationCalls, uuid: string, service: string, url: string) =>
  Effect.flatMap(application(uuid), (app) =>
    hasAddress(app, service, url)
      ? Effect.void
      : new PlatformRefused({
        upstream: 422,
        words:
          `Coolify took ${url} for the service ${quoteInput(service)} and did not set it: look whether its compose ` +
          "file has that service, and correct \"service\" in the entry of platform.json"
      }))

/**
 * Sets an address of a compose stack, as soon as Coolify takes it. One that the creation has brought is checked when the
 * compose file has come, and stays if that takes long: the first deployment loads it. An address cannot be removed by an
 * empty one.
 */
const setServiceAddress = (
  calls: ApplicationCalls,
  uuid: string,
  url: string,
  given: string | undefined
): PlatformCall<void> => {
  const attempt = Effect.gen(function*() {
    const app = yield* calls.application(uuid)
    if (awaitsCompose(app) && given === undefined) return yield* notLoaded
    const service = yield* serviceOf(app, given)
    if (hasAddress(app, service, url)) return awaitsCompose(app) ? yield* unverified : undefined
    yield* calls.patch(uuid, serviceAddress(app, service, url))
    yield* checkAddress(calls, uuid, service, url)
  })
  return attempt.pipe(
    Effect.mapError(toNotLoaded),
    Effect.retry({ schedule: everyTwoSeconds(5), while: (error) => error === unverified }),
    Effect.catchIf((error) => error === unverified, () => Effect.void),
    Effect.retry({ schedule: everyTwoSeconds(15), while: (error) => error === notLoaded }),
    Effect.asVoid
  )
}

/** Calls that set addresses: a compose stack has one for each service, any other application has a single one. */
const makeCoolifyDomains = (
  calls: ApplicationCalls
): Pick<Platform["Type"], "setDomain" | "updateApplication"> => ({
  updateApplication: (uuid, fields) =>
    Effect.gen(function*() {
      const { application, patch } = calls
      const url = address(fields)
      if (url === undefined) return yield* patch(uuid, toCoolify(fields))
      const app = yield* application(uuid)
      if (!isCompose(fields["build_pack"] ?? app.build_pack)) return yield* patch(uuid, toCoolify(fields))
      const { domains: _, fqdn: __, ...others } = fields
      if (!Predicate.isString(url) || url === "") {
        return Object.keys(others).length === 0 ? null : yield* patch(uuid, toCoolify(others))
      }
      const service = yield* serviceOf(app, undefined)
      const changed = yield* patch(uuid, { ...toCoolify(others), ...serviceAddress(app, service, url) })
      yield* checkAddress(calls, uuid, service, url)
      return changed
    }).pipe(Effect.mapError(toNotLoaded)),
  setDomain: ({ buildPack, uuid }, url, service) =>
    isCompose(buildPack)
      ? setServiceAddress(calls, uuid, url, service)
      : Effect.asVoid(calls.patch(uuid, { domains: url }))
})

const abilityLacking = "the token in platform.token lacks the ability read:sensitive: give it that in Coolify, " +
  "under Keys & Tokens"

const each = (change: (one: unknown) => unknown) => (body: unknown) => (Array.isArray(body) ? body.map(change) : body)
const isPreview = (env: unknown) => Predicate.isRecord(env) && env["is_preview"] === true

/** Uses the uuid of a variable as its id. */
const neutralEnv = (env: unknown): unknown =>
  Predicate.isRecord(env) && Predicate.isString(env["uuid"]) ? { ...env, id: env["uuid"] } : env

const lockedReason =
  "it is locked in Coolify, which then tells its value to no token: delete it there, and add it again " +
  "without the lock"

/** A variable that is shared, such as `{{environment.PORT}}`: its value is a name, and `real_value` is what it means. */
const isShared = (value: unknown) => Predicate.isString(value) && /\{\{\s*[a-z]+\.[^{}]*\}\}/.test(value)

/** Values of a record; `real_value` is quoted where Coolify escapes it, and therefore comes second. */
const valuesOf = ({ real_value: real, value }: Raw): ReadonlyArray<unknown> => {
  const meant = Predicate.isString(real) ? real.replace(/^'(.*)'$/s, "$1") : real
  return (isShared(value) && !isShared(meant) ? [meant, value] : [value, real]).filter((each) => each !== undefined)
}

/** A token without `read:sensitive` gets records without values; locked variables are without them for any token. */
const discloseEnvs = (records: ReadonlyArray<Raw>): ReadonlyArray<AppEnv> => {
  const open = records.filter((record) => !isLocked(record))
  const lacksAbility = open.length > 0 && open.every((record) => valuesOf(record).length === 0)
  return records.map((record) => {
    const values = valuesOf(record)
    const value = values.find(Predicate.isNotNullable)
    return {
      key: readEnvKey(record),
      record,
      value: value !== undefined
        ? Disclosed.Known({ value: formatEnvValue(value) })
        : isLocked(record) && !lacksAbility
        ? Disclosed.Hidden({ reason: lockedReason })
        : values.length === 0
        ? Disclosed.Hidden({ reason: abilityLacking })
        : Disclosed.Absent()
    }
  })
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
      // Coolify lists each variable twice, the second time for previews.
      Effect.map((body) => Array.isArray(body) ? body.filter((env) => !isPreview(env)) : body)
    )
  const envs = (uuid: string) => envsBody(uuid).pipe(Effect.flatMap(decodeEnvs), Effect.map(discloseEnvs))
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
    createApplication: (fields, served) =>
      Effect.map(
        send({
          method: "POST",
          path: ["applications", "private-deploy-key"],
          body: {
            ...toCoolify(fields),
            // An address generated by Coolify cannot be removed from a compose stack again.
            autogenerate_domain: false,
            // A change of it is refused until the compose file is loaded; the creation takes it at once.
            ...served === undefined ? {} : { docker_compose_domains: [{ name: served.service, domain: served.url }] }
          }
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
        // Coolify generates a secret for a new application.
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
  apiPath: "/api/v1",
  refusal: (body) => describeConflicts(body) || toNeutralWords(describeRefusal(body)),
  operations
}
