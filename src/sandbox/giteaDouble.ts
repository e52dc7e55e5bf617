import { Effect, Redacted, Schema } from "effect"
import type { Scope } from "effect"
import { HookChanges, NewHook } from "./doubles/gitHostFields.ts"
import { type GitHostSeed, type GitHostState, makeGitHostState, type StoredHook } from "./doubles/gitHostState.ts"
import { type DoubleRequest, makeHttpDouble } from "./doubles/httpDouble.ts"
import type { DoubleReply } from "./doubles/httpFault.ts"
import { Refused } from "./doubles/Refused.ts"
import { fieldsOf, said } from "./doubles/requestFields.ts"
import type { GitHostDouble } from "./gitHostDouble.ts"
import type { SandboxFailed } from "./SandboxFailed.ts"

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

const newHook = fieldsOf(
  "Hook",
  Schema.Struct({
    ...NewHook.fields,
    type: Schema.String.pipe(Schema.filter((type) => kinds.includes(type), said("Invalid hook type.")))
  })
)
const hookChanges = fieldsOf("Hook", HookChanges)

const refused = ({ fields, what, why }: Refused): DoubleReply =>
  why === "invalid"
    ? {
      status: 422,
      body: { message: Object.entries(fields).map(([field, reasons]) => `${field}: ${reasons.join(" ")}`).join("; ") }
    }
    : { status: 404, body: { message: `${what} not found`, errors: [] } }

/** A hook as it is shown: never with its secret. */
const shown = ({ active, branchFilter = "", contentType, events, id, type, url }: StoredHook) => ({
  id,
  type,
  branch_filter: branchFilter,
  config: { content_type: contentType, url },
  events,
  authorization_header: "",
  active
})

const defaultPage = 30

/** Counts a page and what it holds from 1; no page holds more than `most`. */
const paged = (hooks: ReadonlyArray<StoredHook>, query: DoubleRequest["query"], most: number) => {
  const page = Math.max(1, Number(query["page"] ?? 1) || 1)
  const size = Math.min(most, Number(query["limit"] ?? defaultPage) || defaultPage)
  return hooks.slice((page - 1) * size, page * size)
}

/** A change takes no secret, and takes away what it does not say of events and branches. */
const asGitea = (
  { active, branch_filter = "", config, events = [] }: typeof HookChanges.Type
): typeof HookChanges.Type => {
  const { secret: _, ...taken } = config ?? {}
  return { ...(active === undefined ? {} : { active }), branch_filter, events, config: taken }
}

const answer = (state: GitHostState, most: number, { body, method, query, segments }: DoubleRequest) => {
  const [api, version, repos, owner = "", name = "", hooks, id, ...more] = segments
  const fits = api === "api" && version === "v1" && repos === "repos" && hooks === "hooks" && more.length === 0
  if (!fits) return Effect.fail(Refused.missing("Resource"))
  const repository = `${owner}/${name}`
  switch (`${method}${id === undefined ? "" : " {id}"}`) {
    case "GET":
      return Effect.map(state.hooks(repository), (all): DoubleReply => ({
        status: 200,
        headers: { "x-total-count": String(all.length) },
        body: paged(all, query, most).map(shown)
      }))
    case "POST":
      return newHook(body).pipe(
        Effect.flatMap((fields) => state.create(repository, fields)),
        Effect.map((hook): DoubleReply => ({ status: 201, body: shown(hook) }))
      )
    case "PATCH {id}":
      return hookChanges(body).pipe(
        Effect.flatMap((changes) => state.update(repository, Number(id), asGitea(changes))),
        Effect.map((hook): DoubleReply => ({ status: 200, body: shown(hook) }))
      )
    case "DELETE {id}":
      return Effect.as(state.remove(repository, Number(id)), { status: 204 })
    default:
      return Effect.fail(Refused.missing("Resource"))
  }
}

/**
 * Starts a git host that behaves like Gitea and Forgejo, on a free loopback port; it wants `Authorization: token <token>`.
 * @param options `most` is how many hooks a page may hold at most; 50 when absent
 */
export const makeGiteaDouble = (options: {
  readonly token: Redacted.Redacted
  readonly seed?: GitHostSeed
  readonly most?: number
}): Effect.Effect<GitHostDouble, SandboxFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const state = yield* makeGitHostState(options.seed)
    const double = yield* makeHttpDouble({
      part: "git host",
      authorization: Redacted.make(`token ${Redacted.value(options.token)}`),
      unauthorized: { status: 401, body: { message: "token is required" } },
      handle: (request) =>
        Effect.catchAll(answer(state, options.most ?? 50, request), (why) => Effect.succeed(refused(why)))
    })
    return { ...double, token: options.token, state }
  })
