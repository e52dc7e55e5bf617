import { Context, Effect, Layer, Option, Redacted, Ref } from "effect"
import { decodeRequestBody } from "../../src/sandbox/doubles/decodeRequestBody.ts"
import { ApplicationChanges, EnvFields, NewApplication } from "../../src/sandbox/doubles/platformFields.ts"
import type { PlatformSeed } from "../../src/sandbox/doubles/platformRecords.ts"
import { makePlatformState } from "../../src/sandbox/doubles/platformState.ts"
import type { Refused } from "../../src/sandbox/doubles/Refused.ts"
import { type AppEnv, PlatformRefused, type Raw } from "../../src/schema/applications/PlatformApp.ts"
import { Disclosed } from "../../src/schema/basics/Disclosed.ts"
import { Platform, type PlatformCall } from "../../src/services/platform/Platform.ts"
import { decodeRecord, formatEnvValue, readEnvKey } from "../../src/services/platform/records.ts"

/** The name of an operation and what it was called with, secrets in the clear. */
export type PlatformAsked = readonly [operation: keyof Platform["Type"], ...given: ReadonlyArray<unknown>]

/** Calls to the platform in order. */
export class PlatformCalls
  extends Context.Tag("berth/test/PlatformCalls")<PlatformCalls, Effect.Effect<ReadonlyArray<PlatformAsked>>>()
{}

export interface PlatformTestOptions extends PlatformSeed {
  /** Operations that fail, and with what status. */
  readonly failing?: { readonly [operation in keyof Platform["Type"]]?: number }
  /** Environment variables whose values the token may not read; `manual_webhook_secret_githost` for that of the record. */
  readonly hidden?: ReadonlyArray<string>
  /** Reason why no deployment is queued. */
  readonly notQueued?: string
}

const refused = ({ fields, what, why }: Refused) => {
  const status = { missing: 404, taken: 409, invalid: 422 }[why]
  const named = Object.entries(fields).map(([field, reasons]) => `${field}: ${reasons.join(" ")}`).join("; ")
  return new PlatformRefused({ upstream: status, words: named === "" ? `${what}: ${why}` : named })
}

const asChanges = decodeRequestBody("Application", ApplicationChanges)
const asNew = decodeRequestBody("Application", NewApplication)
const asEnv = decodeRequestBody("Environment variable", EnvFields)
const idOf = ({ record }: AppEnv) => Number(record["id"])

/** In-memory platform. */
export const platformTest = (options: PlatformTestOptions = {}): Layer.Layer<Platform | PlatformCalls> =>
  Layer.effectContext(Effect.gen(function*() {
    const { failing = {}, hidden = [] } = options
    const isSecretHidden = hidden.includes("manual_webhook_secret_githost")
    const state = yield* makePlatformState(options)
    const asked = yield* Ref.make<ReadonlyArray<PlatformAsked>>([])

    const call = <A>(question: PlatformAsked, answer: Effect.Effect<A, Refused>): PlatformCall<A> =>
      Effect.gen(function*() {
        yield* Ref.update(asked, (before) => [...before, question])
        const status = failing[question[0]]
        if (status !== undefined) return yield* new PlatformRefused({ upstream: status, words: "not today" })
        return yield* Effect.mapError(answer, refused)
      })
    const update = (uuid: string, fields: unknown) =>
      Effect.flatMap(asChanges(fields), (changes) => state.update(uuid, changes))
    const envOf = (record: Raw): AppEnv => ({
      key: readEnvKey(record),
      record,
      value: hidden.includes(readEnvKey(record))
        ? Disclosed.Hidden({ reason: "the token lacks an ability" })
        : record["value"] === null || record["value"] === undefined
        ? Disclosed.Absent()
        : Disclosed.Known({ value: formatEnvValue(record["value"]) })
    })

    const platform = Platform.of({
      applications: call(
        ["applications"],
        Effect.map(state.applications, (all) => all.map((app) => decodeRecord({ ...app })))
      ),
      application: (uuid) =>
        call(
          ["application", uuid],
          Effect.map(state.application(uuid), ({ manual_webhook_secret_githost: secret, ...app }) =>
            decodeRecord(isSecretHidden ? app : { ...app, manual_webhook_secret_githost: secret }))
        ),
      declared: (app) => Effect.succeed(app),
      createApplication: (fields) =>
        call(["createApplication", fields], Effect.flatMap(asNew(fields), (app) => state.create(app))),
      updateApplication: (uuid, fields) => call(["updateApplication", uuid, fields], update(uuid, fields)),
      deleteApplication: (uuid) => call(["deleteApplication", uuid], state.remove(uuid)),
      setDomain: (app, url, service) =>
        call(
          ["setDomain", app.uuid, url, ...(service === undefined ? [] : [service])],
          update(app.uuid, { fqdn: url })
        ),
      clearDomains: (uuid) => call(["clearDomains", uuid], update(uuid, { domains: "" })),
      envs: (uuid) =>
        call(["envs", uuid], Effect.map(state.envs(uuid), (envs) => envs.map((env) => envOf({ ...env })))),
      envsBody: (uuid) => call(["envsBody", uuid], state.envs(uuid)),
      createEnv: (uuid, key, value) =>
        call(
          ["createEnv", uuid, key, value],
          Effect.flatMap(asEnv({ key, value, is_preview: false }), (env) => state.createEnv(uuid, env))
        ),
      updateEnv: (uuid, env, value) =>
        call(
          ["updateEnv", uuid, env.key, value],
          state.updateEnv(uuid, idOf(env), { key: env.key, value, is_preview: false })
        ),
      deleteEnv: (uuid, env) => call(["deleteEnv", uuid, env.key], state.removeEnv(uuid, idOf(env))),
      deploy: (uuid) =>
        call(
          ["deploy", uuid],
          Effect.map(state.deploy(uuid, true), (body) => ({ body, notQueued: Option.fromNullable(options.notQueued) }))
        ),
      projectName: (uuid) => call(["projectName", uuid], Effect.succeed(Disclosed.Hidden({ reason: "not in memory" }))),
      privateKeyName: (uuid) =>
        call(["privateKeyName", uuid], Effect.succeed(Disclosed.Hidden({ reason: "not in memory" }))),
      servers: call(["servers"], Effect.succeed(state.servers.map((server) => ({ ...server })))),
      serversBody: call(["serversBody"], Effect.succeed(state.servers)),
      setWebhookSecret: (uuid, secret) =>
        call(
          ["setWebhookSecret", uuid, Redacted.value(secret)],
          update(uuid, { manual_webhook_secret_githost: Redacted.value(secret) })
        ),
      webhookSecretSet: (uuid) =>
        call(
          ["webhookSecretSet", uuid],
          Effect.map(state.application(uuid), ({ manual_webhook_secret_githost: secret }) =>
            isSecretHidden
              ? Disclosed.Hidden({ reason: "the token lacks an ability" })
              : Disclosed.Known({ value: secret !== null && secret !== "" }))
        ),
      webhookUrl: Effect.succeed("http://platform.test/webhooks/source/githost/events/manual"),
      webhookUrlOf: () => Effect.succeed("http://platform.test/webhooks/source/githost/events/manual"),
      check: call(["check"], Effect.succeed([{ name: "platform", ok: true, detail: "in memory" }]))
    })
    return Context.make(Platform, platform).pipe(Context.add(PlatformCalls, Ref.get(asked)))
  }))
