import { Effect, Predicate, type Redacted, Schema } from "effect"
import { type GitHook, GitHostUnavailable, type Repository } from "../../schema/webhooks/GitHook.ts"
import { describeUnexpected } from "../upstream/describeUnexpected.ts"
import type { UpstreamCall } from "../upstream/UpstreamCall.ts"
import type { GitHost, GitHostCall } from "./GitHost.ts"

/** A call to the git host, in the terms of a vendor's profile. */
export interface GitHostRequest extends Pick<UpstreamCall, "method" | "path" | "query" | "body"> {
  /** Secrets in the body, removed from errors. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/** Connection of a profile, with the address and token from the settings. */
export interface GitHostConnection {
  /** Sends a request and returns the body of the response; `null` when the body is empty. */
  readonly send: (request: GitHostRequest) => GitHostCall<unknown>
}

/** Implements the port's operations for a vendor. */
export type GitHostProfile = (connection: GitHostConnection) => GitHost["Type"]

const WireHook = Schema.Struct({
  id: Schema.Number,
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
/** Reads whether the token's user administers a repository. */
export const mayAdministerIn = (body: unknown) =>
  Effect.map(asRepository(body), ({ permissions }) => permissions?.admin === true)

export const buildRepositoryPath = ({ name, owner }: Repository) => ["api", "v1", "repos", owner, name]
/** Path of a repository's hooks; `hookPath` is the path of a single one. */
export const buildHooksPath = (repository: Repository) => [...buildRepositoryPath(repository), "hooks"]
export const buildHookPath = (repository: Repository, { id }: GitHook) => [...buildHooksPath(repository), String(id)]
/** Path that requests a test delivery. */
export const buildHookTestPath = (
  repository: Repository,
  hook: GitHook
) => [...buildHookPath(repository, hook), "tests"]
