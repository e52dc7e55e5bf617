import { Effect, Redacted, type Scope } from "effect"
import { decodeRequestBody } from "./doubles/decodeRequestBody.ts"
import { HookChanges, NewHook } from "./doubles/gitHostFields.ts"
import { type GitHostSeed, type GitHostState, makeGitHostState, type StoredHook } from "./doubles/gitHostState.ts"
import { type DoubleRequest, type HttpDouble, makeHttpDouble } from "./doubles/httpDouble.ts"
import type { DoubleReply } from "./doubles/httpFault.ts"
import { Refused } from "./doubles/Refused.ts"
import type { SandboxFailed } from "./ports/SandboxFailed.ts"

/** Test double of a git host with the specification's neutral API. */
export interface GitHostDouble extends HttpDouble {
  readonly token: Redacted.Redacted
  readonly state: GitHostState
}

/** Differences between the git hosts' APIs. */
export interface HookBehavior {
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

export interface GitHostDoubleOptions {
  readonly token: Redacted.Redacted
  readonly seed?: GitHostSeed
}

/** Starts a git host with an API dialect on a free loopback port; requires `Authorization: token <token>`. */
export const makeHookDouble = (
  manner: HookBehavior,
  options: GitHostDoubleOptions
): Effect.Effect<GitHostDouble, SandboxFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const state = yield* makeGitHostState(options.seed)
    const double = yield* makeHttpDouble({
      part: "git host",
      authorization: Redacted.make(`token ${Redacted.value(options.token)}`),
      unauthorized: { status: 401, body: { message: "token is required" } },
      handle: (request) => Effect.catchAll(answer(state, manner, request), (why) => Effect.succeed(refused(why)))
    })
    return { ...double, token: options.token, state }
  })

/**
 * Starts a git host with the neutral API and the seed's repositories. Hooks are listed in pages of 30, or of `limit`, at
 * most 50.
 */
export const makeGitHostDouble = (options: GitHostDoubleOptions) => makeHookDouble(neutral, options)
