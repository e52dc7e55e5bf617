import { Context, Effect, Either, Option, Predicate, Redacted } from "effect"
import {
  type AppEnv,
  type Disclosed,
  type PlatformFailure,
  type PlatformRecord,
  PlatformRefused,
  type PlatformServer,
  PlatformTimeout,
  PlatformUnavailable,
  type Raw,
  recordFields
} from "../../schema/applications.ts"
import type { Unsendable, UpstreamFailure } from "../../schema/basics.ts"
import type { Finding } from "../../schema/overview.ts"
import { parseJson } from "../parsing.ts"
import type { Settings, SettingsError } from "../settings/Settings.ts"
import { describeBasePath } from "../upstream/advice.ts"
import { type Authentication, makeExcerpt, type Upstream, type UpstreamCall } from "../upstream/Upstream.ts"

/** A call to the platform. */
export type PlatformCall<A> = Effect.Effect<A, PlatformFailure | SettingsError>
/** Fields of an application, in neutral terms. */
export interface AppFields {
  readonly [field: string]: unknown
}

/** Response to a deployment request, with the reason if none was queued. */
export interface DeployAnswer {
  readonly body: unknown
  readonly notQueued: Option.Option<string>
}

/** Address that the platform itself serves, and the compose service that answers there. */
export interface ServedAddress {
  readonly url: string
  readonly service: string
}

/**
 * The deployment platform, in terms that do not depend on the vendor. A body that is passed on to a caller is
 * `unknown`: its shape is the platform's own.
 */
export class Platform extends Context.Tag("berth/Platform")<Platform, {
  readonly applications: PlatformCall<ReadonlyArray<PlatformRecord>>
  /** Full record of an application. Values equivalent to those in `wanted` use its spelling. */
  readonly application: (uuid: string, wanted?: AppFields) => PlatformCall<PlatformRecord>
  /**
   * Completes a record of the list with all declared fields, in the spelling of `wanted`; reads it again only if the
   * list omits fields.
   */
  readonly declared: (app: PlatformRecord, wanted: AppFields) => PlatformCall<PlatformRecord>
  /**
   * Creates an application from a private repository with a deploy key; `fields` are those of the create rules. A
   * platform that would not take the address of a compose stack right after the creation takes it here.
   */
  readonly createApplication: (fields: AppFields, served?: ServedAddress) => PlatformCall<unknown>
  readonly updateApplication: (uuid: string, fields: AppFields) => PlatformCall<unknown>
  readonly deleteApplication: (uuid: string) => PlatformCall<unknown>
  /** Makes the platform serve an application under one address. `service` names a compose service. */
  readonly setDomain: (
    app: { readonly uuid: string; readonly buildPack: string },
    url: string,
    service?: string
  ) => PlatformCall<void>
  /** Removes the generated addresses of an application that is not a compose stack. */
  readonly clearDomains: (uuid: string) => PlatformCall<void>
  /** Environment variables of an application, without those of previews. */
  readonly envs: (uuid: string) => PlatformCall<ReadonlyArray<AppEnv>>
  /** List of an application's environment variables, as the platform returns it. */
  readonly envsBody: (uuid: string) => PlatformCall<unknown>
  readonly createEnv: (uuid: string, key: string, value: string) => PlatformCall<unknown>
  readonly updateEnv: (uuid: string, env: AppEnv, value: string) => PlatformCall<unknown>
  readonly deleteEnv: (uuid: string, env: AppEnv) => PlatformCall<unknown>
  /** Requests a deployment, even of a version that is already deployed. */
  readonly deploy: (uuid: string) => PlatformCall<DeployAnswer>
  /** Name of the project with this uuid; absent if it does not exist, hidden if the platform does not disclose it. */
  readonly projectName: (uuid: string) => PlatformCall<Disclosed<string>>
  /** Name of the deploy key with this uuid; absent or hidden like that of a project. */
  readonly privateKeyName: (uuid: string) => PlatformCall<Disclosed<string>>
  readonly servers: PlatformCall<ReadonlyArray<PlatformServer>>
  /** List of servers, as the platform returns it. */
  readonly serversBody: PlatformCall<unknown>
  /** Sets the secret that signs push events to an application; an empty one clears it. */
  readonly setWebhookSecret: (uuid: string, secret: Redacted.Redacted) => PlatformCall<void>
  /** True if the application accepts push events signed with the configured secret. */
  readonly webhookSecretSet: (uuid: string) => PlatformCall<Disclosed<boolean>>
  /** Address for push events, if all applications share one. */
  readonly webhookUrl: Effect.Effect<string, SettingsError>
  /** Address for an application's push events. */
  readonly webhookUrlOf: (uuid: string) => Effect.Effect<string, SettingsError>
  /** Findings for `doctor`: the platform's version, the token's abilities. Read-only. */
  readonly check: PlatformCall<ReadonlyArray<Finding>>
}>() {}

/** A call to the platform, in the terms of a vendor's profile. */
export interface PlatformRequest extends Pick<UpstreamCall, "method" | "path" | "plain" | "query"> {
  readonly body?: { readonly [field: string]: unknown }
  /** Maximum size of the response in bytes; `usualLimit` when absent. */
  readonly limit?: number
  /** True for a GET that changes something. */
  readonly changes?: boolean
  /** Parts of the body to redact in errors. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/** Connection of a profile: settings of the current request, and calls with its address and token. */
export interface PlatformConnection {
  /** Sends a request and returns the body of the response; `null` when the body is empty. */
  readonly send: (request: PlatformRequest) => PlatformCall<unknown>
  /** Base of webhook addresses, without a trailing slash. */
  readonly webhookBase: Effect.Effect<string, SettingsError>
  /** Secret that signs push events; empty when none is configured. */
  readonly webhookSecret: PlatformCall<Redacted.Redacted>
}

/** Limit for one record or the variables of one application, in bytes. */
export const usualLimit = 4 * 1024 * 1024
/** Limit for the list of all applications, in bytes. */
export const listLimit = 32 * 1024 * 1024

/** A vendor: its authentication, its errors, and the port's operations in its API. */
export interface PlatformProfile {
  /** Header that carries its token. */
  readonly authentication: Omit<Authentication, "token">
  /** Path in which its address has to end; undefined if that is anybody's choice. */
  readonly apiPath?: string
  /** Describes the body of a refusal, in neutral terms. */
  readonly refusal: (body: string) => string
  readonly operations: (connection: PlatformConnection) => Platform["Type"]
}

/** Reads a text; anything else counts as absent. */
const textOf = (value: unknown): string | undefined =>
  Predicate.isString(value)
    ? value
    : Predicate.isNumber(value) || Predicate.isBoolean(value)
    ? String(value)
    : undefined

/** Reads a flag, which platforms encode in several ways. */
const flagOf = (value: unknown): boolean | undefined =>
  [true, 1, "1", "true"].some((yes) => yes === value)
    ? true
    : [false, 0, "0", "false"].some((no) => no === value)
    ? false
    : undefined

const columnsOf = (raw: Raw) =>
  Object.fromEntries(
    recordFields.map(({ record: { key, kind } }) => [key, kind === "flag" ? flagOf(raw[key]) : textOf(raw[key])])
  )

/** Reads the known fields of a record; one that does not fit counts as absent. */
export const decodeRecord = (raw: Raw): PlatformRecord => ({
  ...columnsOf(raw),
  uuid: textOf(raw["uuid"]) ?? "",
  name: textOf(raw["name"]) ?? "",
  fqdn: textOf(raw["fqdn"]),
  manual_webhook_secret_githost: textOf(raw["manual_webhook_secret_githost"]),
  server_uuid: textOf(raw["server_uuid"]),
  raw
})

const serverOf = (raw: Raw): PlatformServer => ({
  uuid: textOf(raw["uuid"]) ?? "",
  name: textOf(raw["name"]) ?? "",
  ip: textOf(raw["ip"])
})

const mostRecords = 10_000

/** Reads the records of a list; other items are skipped. */
const listed = (call: string, body: unknown): Effect.Effect<ReadonlyArray<Raw>, PlatformUnavailable> => {
  if (!Array.isArray(body)) {
    return new PlatformUnavailable({ call, reason: "answered something unexpected, not a list" })
  }
  return body.length > mostRecords
    ? new PlatformUnavailable({ call, reason: `answered a list of more than ${mostRecords} records` })
    : Effect.succeed(body.filter(Predicate.isReadonlyRecord))
}

/** Reads the list of applications. */
export const decodeApps = (body: unknown) =>
  Effect.map(listed("GET /applications", body), (records) => records.map(decodeRecord))

/** Reads the full record of an application, and sets its uuid to the requested one. */
export const decodeApp = (uuid: string) => (body: unknown): Effect.Effect<PlatformRecord, PlatformUnavailable> =>
  Predicate.isReadonlyRecord(body)
    ? Effect.succeed({ ...decodeRecord(body), uuid })
    : new PlatformUnavailable({
      call: "GET /applications/{uuid}",
      reason: "answered something unexpected, not an application"
    })

/** Reads a list of environment variables. */
export const decodeEnvs = (body: unknown) => listed("GET /applications/{uuid}/envs", body)

/** The text of a variable's value. */
export const formatEnvValue = (value: unknown): string => textOf(value) ?? JSON.stringify(value)

/** The key of a variable. */
export const readEnvKey = (raw: Raw): string => textOf(raw["key"]) ?? ""

/** Reads the list of servers. */
export const decodeServers = (body: unknown) =>
  Effect.map(listed("GET /servers", body), (records) => records.map(serverOf))

type Failure = PlatformRefused | PlatformUnavailable | PlatformTimeout | Unsendable

const asPlatformFailure = (error: UpstreamFailure): Failure => {
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

/** Calls of a profile; each uses the current address and token of the settings. */
export const makePlatformConnection = (
  settings: Settings["Type"],
  upstream: Upstream["Type"],
  { apiPath, authentication, refusal }: PlatformProfile
): PlatformConnection => ({
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
      (error) => {
        const failure = asPlatformFailure(error)
        // The platform's own words about a record that is not there come from the right place.
        const isMissing = error._tag === "UpstreamRefused" && (error.upstream === 404 || error.upstream === 405) &&
          !/^(?!resource|page|not\b)[a-z ]+ not found/i.test(error.words)
        const isOdd = error._tag === "UpstreamUnavailable" && !error.transport
        const place = apiPath === undefined || !(isMissing || isOdd)
          ? undefined
          : describeBasePath("platform.url", base, apiPath)
        return place === undefined
          ? failure
          : new PlatformUnavailable({ call: `${method} ${path.join("/")}`, reason: `${failure.message}. ${place}` })
      }
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

const sentences = (value: unknown): string =>
  Array.isArray(value) ? value.map(sentences).join(" ") : Predicate.isString(value) ? value : JSON.stringify(value)

/** Refused fields, each with its reason: `fqdn: This field is not allowed.` */
const refusedFields = (errors: unknown): ReadonlyArray<string> => {
  if (Predicate.isRecord(errors)) return Object.entries(errors).map(([field, why]) => `${field}: ${sentences(why)}`)
  return Array.isArray(errors) ? errors.map(sentences) : Predicate.isString(errors) ? [errors] : []
}

/** Describes a refusal in one line: its message, and the refused fields. */
export const describeRefusal = (text: string): string => {
  const body = Either.getOrElse(parseJson(text), () => null)
  if (!Predicate.isRecord(body)) return makeExcerpt(text) || "it gave no reason"
  const message = [body["message"], body["error"]].find((said) => Predicate.isString(said) && said !== "")
  const fields = refusedFields(body["errors"])
  if (message === undefined && fields.length === 0) return makeExcerpt(text)
  const said = Predicate.isString(message) ? message : "refused"
  return fields.length === 0 ? said : `${said} (${fields.join("; ")})`
}
