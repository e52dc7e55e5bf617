import { Effect, Redacted } from "effect"
import type { Scope } from "effect"
import { HookChanges, NewHook } from "./doubles/gitHostFields.ts"
import { makeGitHostState } from "./doubles/gitHostState.ts"
import type { GitHostSeed, GitHostState, StoredHook } from "./doubles/gitHostState.ts"
import { makeHttpDouble } from "./doubles/httpDouble.ts"
import type { DoubleRequest, HttpDouble } from "./doubles/httpDouble.ts"
import type { DoubleReply } from "./doubles/httpFault.ts"
import { Refused } from "./doubles/Refused.ts"
import { fieldsOf } from "./doubles/requestFields.ts"
import type { SandboxFailed } from "./SandboxFailed.ts"

/** A git host that answers in the specification's neutral words. */
export interface GitHostDouble extends HttpDouble {
  readonly token: Redacted.Redacted
  readonly state: GitHostState
}

const refused = ({ fields, what, why }: Refused): DoubleReply =>
  why === "invalid"
    ? {
      status: 422,
      body: { message: Object.entries(fields).map(([field, reasons]) => `${field}: ${reasons.join(" ")}`).join("; ") }
    }
    : { status: why === "missing" ? 404 : 409, body: { message: `${what} not found`, errors: [] } }

/** A hook as it is shown: never with its secret. */
const shown = ({ active, contentType, events, id, type, url }: StoredHook) => ({
  id,
  type,
  active,
  events,
  config: { url, content_type: contentType }
})

const newHook = fieldsOf("Hook", NewHook)
const hookChanges = fieldsOf("Hook", HookChanges)

const page = (query: Readonly<Record<string, string>>, pageSize: number) => {
  const number = Math.max(1, Number(query["page"] ?? 1) || 1)
  const size = Math.min(50, Math.max(1, Number(query["limit"] ?? pageSize) || pageSize))
  return { from: (number - 1) * size, to: number * size }
}

const answer = (state: GitHostState, pageSize: number, { body, method, query, segments }: DoubleRequest) => {
  const [api, version, repos, owner = "", name = "", hooks, id, ...more] = segments
  const fits = api === "api" && version === "v1" && repos === "repos" && hooks === "hooks" && more.length === 0
  if (!fits) return Effect.fail(Refused.missing("Resource"))
  const repository = `${owner}/${name}`
  switch (`${method}${id === undefined ? "" : " {id}"}`) {
    case "GET":
      return Effect.map(state.hooks(repository), (all): DoubleReply => {
        const { from, to } = page(query, pageSize)
        return { status: 200, headers: { "x-total-count": String(all.length) }, body: all.slice(from, to).map(shown) }
      })
    case "POST":
      return newHook(body).pipe(
        Effect.flatMap((fields) => state.create(repository, fields)),
        Effect.map((hook): DoubleReply => ({ status: 201, body: shown(hook) }))
      )
    case "PATCH {id}":
      return hookChanges(body).pipe(
        Effect.flatMap((changes) => state.update(repository, Number(id), changes)),
        Effect.map((hook): DoubleReply => ({ status: 200, body: shown(hook) }))
      )
    case "DELETE {id}":
      return Effect.as(state.remove(repository, Number(id)), { status: 204 })
    default:
      return Effect.fail(Refused.missing("Resource"))
  }
}

/**
 * Starts a git host on a free loopback port that wants `Authorization: token <token>`. It has the repositories of the
 * seed. Hooks come in pages of `pageSize` (30 when absent), or of `limit`, which is 50 at most.
 */
export const makeGitHostDouble = (options: {
  readonly token: Redacted.Redacted
  readonly seed?: GitHostSeed
  readonly pageSize?: number
}): Effect.Effect<GitHostDouble, SandboxFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const state = yield* makeGitHostState(options.seed)
    const double = yield* makeHttpDouble({
      part: "git host",
      authorization: Redacted.make(`token ${Redacted.value(options.token)}`),
      unauthorized: { status: 401, body: { message: "token is required" } },
      handle: (request) =>
        Effect.catchAll(answer(state, options.pageSize ?? 30, request), (why) => Effect.succeed(refused(why)))
    })
    return { ...double, token: options.token, state }
  })
