import { Context, Duration, Effect, Layer, Option, Predicate, Redacted, Schema } from "effect"
import type { UpstreamFailure } from "../schema/basics.ts"
import type { Finding } from "../schema/overview.ts"
import type { SettingValue } from "../schema/settings.ts"
import {
  type GitHook,
  type GitHostFailure,
  GitHostRefused,
  GitHostUnavailable,
  type Repository
} from "../schema/webhooks.ts"
import { pluralize } from "../schema/words.ts"
import { describeRefusal } from "./platform/Platform.ts"
import { uncancellable } from "./runs/Steps.ts"
import { Settings, type SettingsError, type SettingValues } from "./settings/Settings.ts"
import { describeBasePath } from "./upstream/advice.ts"
import { describeUnexpected, Upstream, type UpstreamCall } from "./upstream/Upstream.ts"

/** A call to the git host. */
export type GitHostCall<A> = Effect.Effect<A, GitHostFailure | SettingsError>

/** Webhooks of the git host, independent of the vendor. */
export class GitHost extends Context.Tag("berth/GitHost")<GitHost, {
  /** Every hook of a repository. */
  readonly hooks: (repository: Repository) => GitHostCall<ReadonlyArray<GitHook>>
  /** Creates an active push hook that carries JSON and the secret. */
  readonly createHook: (
    repository: Repository,
    url: string,
    secret: Redacted.Redacted
  ) => GitHostCall<GitHook>
  /** Activates an existing hook with this secret, and changes nothing else of it; returns the updated hook. */
  readonly updateHook: (
    repository: Repository,
    hook: GitHook,
    secret: Redacted.Redacted
  ) => GitHostCall<GitHook>
  readonly deleteHook: (repository: Repository, hook: GitHook) => GitHostCall<void>
  /** Makes the git host deliver a sample push event to a hook. Returns before the delivery. */
  readonly testHook: (repository: Repository, hook: GitHook) => GitHostCall<void>
  /** Checks, without a change, that the token may manage the hooks of a repository. */
  readonly check: (repository: Repository) => GitHostCall<Finding>
}>() {}

/** A call to the git host, in the terms of a vendor's profile. */
interface GitHostRequest extends Pick<UpstreamCall, "method" | "path" | "query" | "body"> {
  /** Secrets in the body, removed from errors. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/** Connection of a profile, with the address and token from the settings. */
interface GitHostConnection {
  /** Sends a request and returns the body of the response; `null` when the body is empty. */
  readonly send: (request: GitHostRequest) => GitHostCall<unknown>
}

/** Implements the port's operations for a vendor. */
type GitHostProfile = (connection: GitHostConnection) => GitHost["Type"]

const WireHook = Schema.Struct({
  id: Schema.Number,
  type: Schema.optional(Schema.NullOr(Schema.String)),
  name: Schema.optional(Schema.NullOr(Schema.String)),
  authorization_header: Schema.optional(Schema.NullOr(Schema.Redacted(Schema.String))),
  active: Schema.optional(Schema.NullOr(Schema.Boolean)),
  branch_filter: Schema.optional(Schema.NullOr(Schema.String)),
  events: Schema.optional(Schema.NullOr(Schema.Array(Schema.String))),
  config: Schema.optional(Schema.NullOr(Schema.Struct({ url: Schema.optional(Schema.NullOr(Schema.String)) })))
})

/** Decodes a response body that Berth depends on; `call` names the request in errors. */
const understood = <A, I>(call: string, schema: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknown(schema)
  return (body: unknown): Effect.Effect<A, GitHostUnavailable> =>
    Effect.mapError(decode(body), (error) => new GitHostUnavailable({ call, reason: describeUnexpected(error) }))
}

const hookOf = (
  { active, authorization_header: authorization, branch_filter: branchFilter, config, events, id, name, type }:
    typeof WireHook.Type
): GitHook => ({
  id,
  active: active === true,
  url: config?.url ?? "",
  ...(Predicate.isString(branchFilter) ? { branchFilter } : {}),
  ...(Predicate.isNullable(events) ? {} : { events }),
  ...(Predicate.isNullable(type) ? {} : { type }),
  ...(Predicate.isNullable(name) || name === "" ? {} : { name }),
  ...(Predicate.isNullable(authorization) ? {} : { authorization })
})

const asHooks = understood("GET …/hooks", Schema.Array(WireHook))
const asHook = understood("POST …/hooks", WireHook)

/** Reads a list of hooks. */
const decodeHooks = (body: unknown) => Effect.map(asHooks(body), (hooks) => hooks.map(hookOf))
/** Reads a hook that was created. */
const decodeHook = (body: unknown) => Effect.map(asHook(body), hookOf)

const asRepository = understood(
  "GET …/repos",
  Schema.Struct({ permissions: Schema.optional(Schema.NullOr(Schema.Struct({ admin: Schema.Boolean }))) })
)
/** Reads whether the token's user administers a repository. */
const mayAdministerIn = (body: unknown) =>
  Effect.map(asRepository(body), ({ permissions }) => permissions?.admin === true)

const buildRepositoryPath = ({ name, owner }: Repository) => ["api", "v1", "repos", owner, name]
/** Path of a repository's hooks; `hookPath` is the path of a single one. */
const buildHooksPath = (repository: Repository) => [...buildRepositoryPath(repository), "hooks"]
const buildHookPath = (repository: Repository, { id }: GitHook) => [...buildHooksPath(repository), String(id)]
/** Path that requests a test delivery. */
const buildHookTestPath = (
  repository: Repository,
  hook: GitHook
) => [...buildHookPath(repository, hook), "tests"]

/**
 * Events of a hook in the words in which Gitea takes them for a new one. It reads `issues` and `pull_request` there as
 * all of their kinds, and reports three kinds of review that it takes as one.
 */
const toGiteaEvents = (reported: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(reported.map((event) =>
    event === "issues" || event === "pull_request"
      ? `${event}_only`
      : /^pull_request_review_(?:approved|rejected|comment)$/.test(event)
      ? "pull_request_review"
      : event
  ))
]

/** Properties of a hook that this Gitea does not report, so that its replacement lacks them. */
const withLost = (hook: GitHook): GitHook => {
  const lost = [
    ...hook.events === undefined ? ["events"] : [],
    ...hook.branchFilter === undefined ? ["branch filter"] : [],
    ...hook.authorization === undefined ? ["authorization header"] : []
  ]
  return lost.length === 0 ? hook : { ...hook, lost }
}

/** Properties of a hook that its replacement lacks. */
const findLost = (before: GitHook, after: GitHook): ReadonlyArray<string> => {
  const events = (before.events ?? []).filter((event) => after.events !== undefined && !after.events.includes(event))
  return [
    ...before.lost ?? [],
    ...events.length === 0 ? [] : [`events ${events.join(", ")}`],
    ...(before.branchFilter ?? "") === (after.branchFilter ?? before.branchFilter ?? "") ? [] : ["branch filter"]
  ]
}

const pageSize = 50
const mostPages = 100

/** Adapts the API of Gitea and Forgejo to the port. */
const gitea: GitHostProfile = ({ send }) => {
  // A host may return fewer hooks per page than requested: only an empty page is the last one.
  const pages = (repository: Repository, page: number): GitHostCall<ReadonlyArray<GitHook>> =>
    Effect.gen(function*() {
      if (page > mostPages) {
        const reason = `the repository has more than ${mostPages} pages of hooks`
        return yield* new GitHostUnavailable({ call: "GET …/hooks", reason })
      }
      const query = { limit: String(pageSize), page: String(page) }
      const hooks = yield* Effect.flatMap(send({ method: "GET", path: buildHooksPath(repository), query }), decodeHooks)
      return hooks.length === 0 ? hooks : [...hooks.map(withLost), ...yield* pages(repository, page + 1)]
    })

  const create = (
    repository: Repository,
    { authorization, branchFilter = "", events = ["push"], name, type = "gitea", url }: Omit<GitHook, "active" | "id">,
    secret: Redacted.Redacted
  ) => {
    const header = authorization === undefined ? "" : Redacted.value(authorization)
    return send({
      method: "POST",
      path: buildHooksPath(repository),
      body: {
        type,
        active: true,
        config: { url, content_type: "json", secret: Redacted.value(secret) },
        events: toGiteaEvents(events),
        ...(branchFilter === "" ? {} : { branch_filter: branchFilter }),
        ...(header === "" ? {} : { authorization_header: header }),
        ...(name === undefined ? {} : { name })
      },
      secrets: [secret, ...header === "" || authorization === undefined ? [] : [authorization]]
    }).pipe(Effect.flatMap(decodeHook), Effect.map((hook): GitHook => ({ ...hook, active: true, url })))
  }

  const deleteHook = (repository: Repository, hook: GitHook) =>
    Effect.asVoid(send({ method: "DELETE", path: buildHookPath(repository, hook) }))

  return GitHost.of({
    hooks: (repository) => pages(repository, 1),
    createHook: (repository, url, secret) => create(repository, { url }, secret),
    // The API accepts a secret only for a new hook. Both hooks deliver between the two calls: duplicates are better
    // than a lost event.
    updateHook: (repository, hook, secret) =>
      uncancellable(
        Effect.zipLeft(create(repository, hook, secret), deleteHook(repository, hook)).pipe(
          Effect.map((made): GitHook => ({ ...made, lost: findLost(hook, made) }))
        )
      ),
    deleteHook,
    testHook: (repository, hook) => Effect.asVoid(send({ method: "POST", path: buildHookTestPath(repository, hook) })),
    check: (repository) =>
      Effect.map(
        Effect.flatMap(send({ method: "GET", path: buildRepositoryPath(repository) }), mayAdministerIn),
        (mayAdminister): Finding => {
          const name = `${repository.owner}/${repository.name}`
          return mayAdminister
            ? { name: "git host", ok: true, detail: `the token's user administers ${name}` }
            : {
              name: "git host",
              ok: false,
              detail: `the token's user does not administer ${name}, and cannot set up its webhooks`,
              fix: "Make the token's user an administrator of the repository, or use the token of one"
            }
        }
      )
  })
}

/** Git host with Berth's own API; needs no translation. */
const neutral: GitHostProfile = ({ send }) => {
  const hooks = (repository: Repository) =>
    Effect.flatMap(send({ method: "GET", path: buildHooksPath(repository) }), decodeHooks)

  return GitHost.of({
    hooks,
    createHook: (repository, url, secret) =>
      send({
        method: "POST",
        path: buildHooksPath(repository),
        body: {
          type: "githost",
          active: true,
          config: { url, content_type: "json", secret: Redacted.value(secret) },
          events: ["push"]
        },
        secrets: [secret]
      }).pipe(Effect.flatMap(decodeHook), Effect.map(({ id }) => ({ id, active: true, url }))),
    updateHook: (repository, hook, secret) =>
      Effect.as(
        send({
          method: "PATCH",
          path: buildHookPath(repository, hook),
          body: { config: { content_type: "json", secret: Redacted.value(secret) }, active: true },
          secrets: [secret]
        }),
        { ...hook, active: true }
      ),
    deleteHook: (repository, hook) => Effect.asVoid(send({ method: "DELETE", path: buildHookPath(repository, hook) })),
    testHook: (repository, hook) => Effect.asVoid(send({ method: "POST", path: buildHookTestPath(repository, hook) })),
    check: (repository) =>
      Effect.map(hooks(repository), ({ length }) => ({
        name: "git host",
        ok: true,
        detail: `${repository.owner}/${repository.name} has ${pluralize(length, "hook")}`
      }))
  })
}

/** Supported git hosts, by their name in the setting `gitHost.profile`. */
const profiles: Readonly<Record<SettingValue<"gitHost.profile">, GitHostProfile>> = {
  neutral,
  gitea,
  forgejo: gitea
}

const timeout = Duration.seconds(30)

const inDomainWords = (error: UpstreamFailure): GitHostFailure => {
  switch (error._tag) {
    case "UpstreamRefused":
      return new GitHostRefused({ upstream: error.upstream, words: error.words })
    case "UpstreamUnavailable":
      return new GitHostUnavailable({ call: error.call, reason: error.reason })
    case "UpstreamTimeout":
      return new GitHostUnavailable({ call: error.call, reason: `no answer within ${error.seconds} s` })
    case "PathSegmentRefused":
    case "BodyRefused":
      return error
  }
}

const make = Effect.gen(function*() {
  const settings = yield* Settings
  const upstream = yield* Upstream

  const tokenOrGeneral = ({ find, get }: SettingValues) =>
    Effect.gen(function*() {
      // An empty token is none.
      const own = Option.filter(yield* find("gitHost.token"), (token) => Redacted.value(token) !== "")
      const token = Option.isSome(own) ? own : yield* find("token")
      return Option.isSome(token) ? token.value : yield* get("gitHost.token")
    })

  const connection: GitHostConnection = {
    send: Effect.fn("GitHost.send")(function*({ body, method, path, query, secrets }) {
      const now = yield* settings.now
      const base = yield* now.get("gitHost.url")
      const token = yield* tokenOrGeneral(now)
      const answer = yield* Effect.mapError(
        upstream.send({
          method,
          base,
          path,
          timeout,
          headers: { "content-type": "application/json" },
          // Limit for a page of hooks or a repository, thousands of times their usual size.
          limit: 4 * 1024 * 1024,
          authentication: { header: "authorization", scheme: "token", token },
          refusal: describeRefusal,
          idempotent: method === "GET",
          ...(query === undefined ? {} : { query }),
          ...(body === undefined ? {} : { body }),
          ...(secrets === undefined ? {} : { secrets })
        }),
        (error) => {
          const failure = inDomainWords(error)
          const isMissing = error._tag === "UpstreamRefused" && error.upstream === 404
          const isOdd = error._tag === "UpstreamUnavailable" && !error.transport
          const place = isMissing || isOdd ? describeBasePath("gitHost.url", base, "") : undefined
          if (place === undefined) return failure
          return failure._tag === "GitHostRefused"
            ? new GitHostRefused({ upstream: failure.upstream, words: `${failure.words}. ${place}` })
            : new GitHostUnavailable({ call: `${method} ${path.join("/")}`, reason: `${failure.message}. ${place}` })
        }
      )
      return answer.body
    })
  }

  const inUse = Effect.map(settings.get("gitHost.profile"), (profile) => profiles[profile](connection))
  return GitHost.of(Effect.serviceFunctions(inUse))
})

/** Git host at the address in the settings, through the profile in the settings. */
export const GitHostLive: Layer.Layer<GitHost, never, Settings | Upstream> = Layer.effect(GitHost, make)
