import { Context, Effect, Layer, Option, Redacted, Ref } from "effect"
import { type GitHostSeed, makeGitHostState, type StoredHook } from "../sandbox/gitHost.ts"
import { decodeRequestBody, type Refused } from "../sandbox/httpDouble.ts"
import { makePlatformState } from "../sandbox/platform.ts"
import { ApplicationChanges, EnvFields, NewApplication, type PlatformSeed } from "../sandbox/records.ts"
import { type AppEnv, Disclosed, PlatformRefused, type Raw } from "../schema/applications.ts"
import { GitHostRefused, type Repository } from "../schema/webhooks.ts"
import { GitHost, type GitHostCall } from "../services/githost.ts"
import { decodeRecord, formatEnvValue, Platform, type PlatformCall, readEnvKey } from "../services/platform/Platform.ts"

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

/** The name of an operation and what it was called with, secrets in the clear. */
export type GitHostAsked = readonly [operation: keyof GitHost["Type"], ...given: ReadonlyArray<unknown>]

/** Calls to the git host in order, and its hooks. */
export class GitHostCalls extends Context.Tag("berth/test/GitHostCalls")<GitHostCalls, {
  readonly asked: Effect.Effect<ReadonlyArray<GitHostAsked>>
  readonly hooks: (repository: string) => Effect.Effect<ReadonlyArray<StoredHook>>
}>() {}

export interface GitHostTestOptions extends GitHostSeed {
  /** Operations that fail, and with what status. */
  readonly failing?: { readonly [operation in keyof GitHost["Type"]]?: number }
}

const refusedByGitHost = ({ what, why }: Refused) =>
  new GitHostRefused({ upstream: why === "missing" ? 404 : 422, words: `{"message":"${what}: ${why}"}` })
const pathOf = ({ name, owner }: Repository) => `${owner}/${name}`

/** In-memory git host. */
export const gitHostTest = (options: GitHostTestOptions = {}): Layer.Layer<GitHost | GitHostCalls> =>
  Layer.effectContext(Effect.gen(function*() {
    const { failing = {} } = options
    const state = yield* makeGitHostState(options)
    const asked = yield* Ref.make<ReadonlyArray<GitHostAsked>>([])

    const call = <A>(question: GitHostAsked, answer: Effect.Effect<A, Refused>): GitHostCall<A> =>
      Effect.gen(function*() {
        yield* Ref.update(asked, (before) => [...before, question])
        const status = failing[question[0]]
        if (status !== undefined) return yield* new GitHostRefused({ upstream: status, words: "not today" })
        return yield* Effect.mapError(answer, refusedByGitHost)
      })

    const gitHost = GitHost.of({
      hooks: (repository) => call(["hooks", pathOf(repository)], state.hooks(pathOf(repository))),
      createHook: (repository, url, secret) =>
        call(
          ["createHook", pathOf(repository), url, Redacted.value(secret)],
          state.create(pathOf(repository), {
            type: "githost",
            active: true,
            events: ["push"],
            config: { url, content_type: "json", secret: Redacted.value(secret) }
          })
        ),
      updateHook: (repository, { id }, secret) =>
        call(
          ["updateHook", pathOf(repository), id, Redacted.value(secret)],
          state.update(pathOf(repository), id, { active: true, config: { secret: Redacted.value(secret) } })
        ),
      deleteHook: (repository, { id }) =>
        call(["deleteHook", pathOf(repository), id], state.remove(pathOf(repository), id)),
      testHook: (repository, { id }) =>
        call(["testHook", pathOf(repository), id], Effect.asVoid(state.update(pathOf(repository), id, {}))),
      check: (repository) =>
        call(["check", pathOf(repository)], Effect.succeed({ name: "git host", ok: true, detail: pathOf(repository) }))
    })
    const hooks = (repository: string) => Effect.orElseSucceed(state.hooks(repository), () => [])
    return Context.make(GitHost, gitHost).pipe(Context.add(GitHostCalls, { asked: Ref.get(asked), hooks }))
  }))
