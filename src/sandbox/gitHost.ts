import { Effect, Redacted, Schema, type Scope, SynchronizedRef } from "effect"
import {
  annotateMessage,
  decodeRequestBody,
  type DoubleReply,
  type DoubleRequest,
  Filled,
  type HttpDouble,
  makeHttpDouble,
  Refused,
  type SandboxFailed
} from "./httpDouble.ts"

/** Body of a request that creates a hook. */
const NewHook = Schema.Struct({
  type: Filled,
  active: Schema.optional(Schema.Boolean),
  events: Schema.optional(Schema.Array(Schema.String)),
  branch_filter: Schema.optional(Schema.String),
  authorization_header: Schema.optional(Schema.String),
  name: Schema.optional(Schema.String),
  config: Schema.Struct({
    url: Schema.String.pipe(Schema.filter((text) => URL.canParse(text), annotateMessage("Invalid URL."))),
    content_type: Schema.Literal("json", "form").annotations(annotateMessage("Invalid content type.")),
    secret: Schema.optional(Schema.String)
  })
})
interface NewHook extends Schema.Schema.Type<typeof NewHook> {}

/** Update of a hook. */
export const HookChanges = Schema.Struct({
  active: NewHook.fields.active,
  events: NewHook.fields.events,
  branch_filter: NewHook.fields.branch_filter,
  config: Schema.optional(Schema.partial(NewHook.fields.config))
})
export interface HookChanges extends Schema.Schema.Type<typeof HookChanges> {}

/** Hook as the git host stores it, including its secret. */
export interface StoredHook {
  readonly id: number
  readonly type: string
  readonly active: boolean
  readonly events: ReadonlyArray<string>
  readonly url: string
  readonly contentType: string
  readonly secret: string
  readonly branchFilter?: string
  readonly authorizationHeader?: string
  readonly name?: string
}

/** Initial contents of a git host: repositories as `owner/name`, with their hooks. */
export interface GitHostSeed {
  /** Former names of repositories with their present ones: requests for them are redirected. */
  readonly renamed?: Readonly<Record<string, string>>
  readonly repositories?: Readonly<Record<string, ReadonlyArray<Partial<StoredHook>>>>
}

/** In-memory git host. The doubles format its responses. */
type GitHostState = Effect.Effect.Success<ReturnType<typeof makeGitHostState>>

interface Contents {
  readonly repositories: ReadonlyMap<string, ReadonlyArray<StoredHook>>
  readonly counter: number
}

const plainHook = { type: "githost", active: true, events: ["push"], url: "", contentType: "json", secret: "" }

const seeded = ({ repositories = {} }: GitHostSeed): Contents => {
  let counter = 0
  const entries = Object.entries(repositories).map(([name, hooks]) =>
    [name, hooks.map((hook): StoredHook => ({ id: ++counter, ...plainHook, ...hook }))] as const
  )
  return { repositories: new Map(entries), counter }
}

const find = (hooks: ReadonlyArray<StoredHook>, id: number): Effect.Effect<StoredHook, Refused> => {
  const hook = hooks.find((one) => one.id === id)
  return hook === undefined ? Effect.fail(Refused.missing("Hook")) : Effect.succeed(hook)
}

/** Creates a git host that contains only the seed. */
export const makeGitHostState = (seed: GitHostSeed = {}) =>
  Effect.gen(function*() {
    const contents = yield* SynchronizedRef.make(seeded(seed))
    /** Changes the hooks of a repository atomically; a refused change has no effect. */
    const transact = <A>(
      repository: string,
      change: (
        hooks: ReadonlyArray<StoredHook>,
        id: number
      ) => Effect.Effect<readonly [A, ReadonlyArray<StoredHook>], Refused>
    ): Effect.Effect<A, Refused> =>
      SynchronizedRef.modifyEffect(contents, (now) =>
        Effect.gen(function*() {
          const hooks = now.repositories.get(repository)
          if (hooks === undefined) return yield* Refused.missing("Repository")
          const [result, next] = yield* change(hooks, now.counter + 1)
          const counter = Math.max(now.counter, ...next.map(({ id }) => id))
          return [result, { counter, repositories: new Map([...now.repositories, [repository, next]]) }] as const
        }))

    return {
      hooks: (repository: string) => transact(repository, (hooks) => Effect.succeed([hooks, hooks] as const)),
      create: (
        repository: string,
        {
          active = false,
          authorization_header: authorizationHeader,
          branch_filter: branchFilter,
          config,
          events = [],
          name,
          type
        }: NewHook
      ) =>
        transact(repository, (hooks, id) => {
          const { content_type: contentType, secret = "", url } = config
          const hook: StoredHook = {
            id,
            type,
            active,
            events,
            url,
            contentType,
            secret,
            ...branchFilter === undefined ? {} : { branchFilter },
            ...authorizationHeader === undefined ? {} : { authorizationHeader },
            ...name === undefined ? {} : { name }
          }
          return Effect.succeed([hook, [...hooks, hook]] as const)
        }),
      update: (repository: string, id: number, { active, branch_filter: branchFilter, config, events }: HookChanges) =>
        transact(repository, (hooks) =>
          Effect.map(find(hooks, id), (hook) => {
            const next: StoredHook = {
              ...hook,
              active: active ?? hook.active,
              events: events ?? hook.events,
              url: config?.url ?? hook.url,
              contentType: config?.content_type ?? hook.contentType,
              secret: config?.secret ?? hook.secret,
              ...(branchFilter === undefined ? {} : { branchFilter })
            }
            return [next, hooks.map((one) => one === hook ? next : one)] as const
          })),
      remove: (repository: string, id: number) =>
        transact(
          repository,
          (hooks) => Effect.map(find(hooks, id), (hook) => [undefined, hooks.filter((one) => one !== hook)] as const)
        )
    }
  })

/** Test double of a git host with the specification's neutral API. */
export interface GitHostDouble extends HttpDouble {
  readonly token: Redacted.Redacted
  readonly state: GitHostState
}

/** Differences between the git hosts' APIs. */
interface HookBehavior {
  readonly newHook: (body: unknown) => Effect.Effect<NewHook, Refused>
  /** Interprets the fields of an update request. */
  readonly meant: (changes: HookChanges) => HookChanges
  /** Response body of a hook, without its secret. */
  readonly shown: (hook: StoredHook) => unknown
}

const neutral: HookBehavior = {
  newHook: decodeRequestBody("Hook", NewHook),
  meant: (changes) => changes,
  shown: ({ active, contentType, events, id, type, url }) => ({
    id,
    type,
    active,
    events,
    config: { url, content_type: contentType }
  })
}

const hookChanges = decodeRequestBody("Hook", HookChanges)

const refused = ({ fields, what, why }: Refused): DoubleReply =>
  why === "invalid"
    ? {
      status: 422,
      body: { message: Object.entries(fields).map(([field, reasons]) => `${field}: ${reasons.join(" ")}`).join("; ") }
    }
    : { status: 404, body: { message: `${what} not found`, errors: [] } }

const usualPage = 30
const largestPage = 50

/** Page numbers start at 1. */
const paged = (hooks: ReadonlyArray<StoredHook>, query: DoubleRequest["query"]) => {
  const page = Math.max(1, Number(query["page"] ?? 1) || 1)
  const size = Math.min(largestPage, Math.max(1, Number(query["limit"] ?? usualPage) || usualPage))
  return hooks.slice((page - 1) * size, page * size)
}

const answer = (
  state: GitHostState,
  { meant, newHook, shown }: HookBehavior,
  { body, method, query, segments }: DoubleRequest
) => {
  const [api, version, repos, owner = "", name = "", hooks, id, tests, ...more] = segments
  const repository = `${owner}/${name}`
  const isRepository = api === "api" && version === "v1" && repos === "repos"
  if (isRepository && hooks === undefined && method === "GET") {
    // The token has administrator permissions.
    const body = { name, full_name: repository, permissions: { admin: true, push: true, pull: true } }
    return Effect.as(state.hooks(repository), { status: 200, body })
  }
  if (!isRepository || hooks !== "hooks" || more.length > 0 || tests !== undefined && tests !== "tests") {
    return Effect.fail(Refused.missing("Resource"))
  }
  switch (`${method}${id === undefined ? "" : " {id}"}${tests === undefined ? "" : " tests"}`) {
    case "GET":
      return Effect.map(state.hooks(repository), (all): DoubleReply => ({
        status: 200,
        headers: { "x-total-count": String(all.length) },
        body: paged(all, query).map(shown)
      }))
    case "POST":
      return newHook(body).pipe(
        Effect.flatMap((fields) => state.create(repository, fields)),
        Effect.map((hook): DoubleReply => ({ status: 201, body: shown(hook) }))
      )
    case "PATCH {id}":
      return hookChanges(body).pipe(
        Effect.flatMap((changes) => state.update(repository, Number(id), meant(changes))),
        Effect.map((hook): DoubleReply => ({ status: 200, body: shown(hook) }))
      )
    case "DELETE {id}":
      return Effect.as(state.remove(repository, Number(id)), { status: 204 })
    case "POST {id} tests":
      // Checks with an empty update that the hook exists; deliveries are dropped.
      return Effect.as(state.update(repository, Number(id), {}), { status: 204 })
    default:
      return Effect.fail(Refused.missing("Resource"))
  }
}

interface GitHostDoubleOptions {
  readonly token: Redacted.Redacted
  readonly seed?: GitHostSeed
}

/** Starts a git host with an API dialect on a free loopback port; requires `Authorization: token <token>`. */
const makeHookDouble = (
  manner: HookBehavior,
  options: GitHostDoubleOptions
): Effect.Effect<GitHostDouble, SandboxFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const state = yield* makeGitHostState(options.seed)
    const double = yield* makeHttpDouble({
      part: "git host",
      authorization: Redacted.make(`token ${Redacted.value(options.token)}`),
      unauthorized: { status: 401, body: { message: "token is required" } },
      handle: (request) => {
        const [api, version, repos, owner, name, ...more] = request.segments
        const present = options.seed?.renamed?.[`${owner}/${name}`]
        const location = [api, version, repos, present, ...more].join("/")
        return present === undefined
          ? Effect.catchAll(answer(state, manner, request), (why) => Effect.succeed(refused(why)))
          : Effect.succeed({ status: 307, headers: { location: `/${location}` } })
      }
    })
    return { ...double, token: options.token, state }
  })

/**
 * Starts a git host with the neutral API and the seed's repositories. Hooks are listed in pages of 30, or of `limit`, at
 * most 50.
 */
export const makeGitHostDouble = (options: GitHostDoubleOptions) => makeHookDouble(neutral, options)

const kinds = [
  "gitea",
  "gogs",
  "slack",
  "discord",
  "dingtalk",
  "telegram",
  "msteams",
  "feishu",
  "wechatwork",
  "packagist"
]

const issueEvents = ["issue_assign", "issue_label", "issue_milestone", "issue_comment"]
const pullEvents = ["assign", "label", "milestone", "comment", "review", "review_request", "sync"].map((kind) =>
  `pull_request_${kind}`
)
const plainEvents = ["create", "delete", "fork", "push", "wiki", "repository", "release", "package"]

/** Events that a Gitea stores for those that it is given: unknown ones are none, and two of them are several. */
const toStoredEvents = (given: ReadonlyArray<string> = []): ReadonlyArray<string> => {
  if (given.length === 0) return ["push"]
  const family = (all: string, kinds: ReadonlyArray<string>) => [
    ...given.includes(all) || given.includes(`${all}_only`) ? [all] : [],
    ...kinds.filter((kind) => given.includes(kind) || given.includes(all))
  ]
  return [
    ...plainEvents.filter((event) => given.includes(event)),
    ...family("issues", issueEvents),
    ...family("pull_request", pullEvents)
  ]
}

const newGiteaHook = decodeRequestBody(
  "Hook",
  Schema.Struct({
    ...NewHook.fields,
    type: Schema.String.pipe(Schema.filter((type) => kinds.includes(type), annotateMessage("Invalid hook type.")))
  })
)

const gitea: HookBehavior = {
  newHook: (body) => Effect.map(newGiteaHook(body), (hook) => ({ ...hook, events: toStoredEvents(hook.events) })),
  // An update ignores the secret, and resets the events and branches that it omits.
  meant: ({ active, branch_filter = "", config, events }): HookChanges => {
    const { secret: _, ...taken } = config ?? {}
    return { ...(active === undefined ? {} : { active }), branch_filter, events: toStoredEvents(events), config: taken }
  },
  shown: ({ active, authorizationHeader = "", branchFilter = "", contentType, events, id, name = "", type, url }) => ({
    id,
    type,
    name,
    branch_filter: branchFilter,
    config: { content_type: contentType, url },
    events: events.flatMap((event) =>
      event === "pull_request_review" ? ["approved", "rejected", "comment"].map((kind) => `${event}_${kind}`) : [event]
    ),
    authorization_header: authorizationHeader,
    active
  })
}

/** Starts a test double of Gitea and Forgejo. */
export const makeGiteaDouble = ({ seed = {}, token }: GitHostDoubleOptions) => {
  const repositories = Object.entries(seed.repositories ?? {}).map(([name, hooks]) =>
    [name, hooks.map((hook) => ({ type: "gitea", ...hook }))] as const
  )
  return makeHookDouble(gitea, { token, seed: { ...seed, repositories: Object.fromEntries(repositories) } })
}
