import { Effect, Predicate, type Redacted, Schema } from "effect"
import { type GitHook, GitHostUnavailable, type Repository } from "../../schema/webhooks/GitHook.ts"
import { describeUnexpected } from "../upstream/describeUnexpected.ts"
import type { UpstreamCall } from "../upstream/UpstreamCall.ts"
import type { GitHost, GitHostCall } from "./GitHost.ts"

/** A call to the git host as a vendor's profile words it. */
export interface GitHostRequest extends Pick<UpstreamCall, "method" | "path" | "query" | "body"> {
  /** Secrets in the body, removed from errors. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/** Calls of a profile, with the address and token of the settings. */
export interface GitHostConnection {
  /** The body of the answer; `null` when there is none. */
  readonly send: (request: GitHostRequest) => GitHostCall<unknown>
}

/** A vendor: the port's operations in its words. */
export type GitHostProfile = (connection: GitHostConnection) => GitHost["Type"]

const WireHook = Schema.Struct({
  id: Schema.Number,
  active: Schema.optional(Schema.NullOr(Schema.Boolean)),
  branch_filter: Schema.optional(Schema.NullOr(Schema.String)),
  events: Schema.optional(Schema.NullOr(Schema.Array(Schema.String))),
  config: Schema.optional(Schema.NullOr(Schema.Struct({ url: Schema.optional(Schema.NullOr(Schema.String)) })))
})

/** Reads a body that Berth has to understand; `call` names it in an error. */
const understood = <A, I>(call: string, schema: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknown(schema)
  return (body: unknown): Effect.Effect<A, GitHostUnavailable> =>
    Effect.mapError(decode(body), (error) => new GitHostUnavailable({ call, reason: describeUnexpected(error) }))
}

const hookOf = ({ active, branch_filter: branchFilter, config, events, id }: typeof WireHook.Type): GitHook => ({
  id,
  active: active === true,
  url: config?.url ?? "",
  ...(Predicate.isString(branchFilter) ? { branchFilter } : {}),
  ...(events === undefined || events === null ? {} : { events })
})

const asHooks = understood("GET …/hooks", Schema.Array(WireHook))
const asHook = understood("POST …/hooks", WireHook)

/** Reads a list of hooks. */
export const decodeHooks = (body: unknown) => Effect.map(asHooks(body), (hooks) => hooks.map(hookOf))
/** Reads a hook that was created. */
export const decodeHook = (body: unknown) => Effect.map(asHook(body), hookOf)

const asRepository = understood(
  "GET …/repos",
  Schema.Struct({ permissions: Schema.optional(Schema.NullOr(Schema.Struct({ admin: Schema.Boolean }))) })
)
/** Reads from a repository whether the token's user administers it. */
export const mayAdministerIn = (body: unknown) =>
  Effect.map(asRepository(body), ({ permissions }) => permissions?.admin === true)

/** The path of a repository. */
export const buildRepositoryPath = ({ name, owner }: Repository) => ["api", "v1", "repos", owner, name]
/** The path of a repository's hooks, and of one of them. */
export const buildHooksPath = (repository: Repository) => [...buildRepositoryPath(repository), "hooks"]
export const buildHookPath = (repository: Repository, { id }: GitHook) => [...buildHooksPath(repository), String(id)]
/** The path that a test delivery is asked for at. */
export const buildHookTestPath = (
  repository: Repository,
  hook: GitHook
) => [...buildHookPath(repository, hook), "tests"]
