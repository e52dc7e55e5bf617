import { Context, type Effect, type Redacted } from "effect"
import type { Finding } from "../../schema/Health.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { GitHook, GitHostFailure, Repository } from "../../schema/webhooks/GitHook.ts"

/** A call to the git host. */
export type GitHostCall<A> = Effect.Effect<A, GitHostFailure | SettingsError>

/** The git host's webhooks, whatever the vendor. */
export class GitHost extends Context.Tag("berth/GitHost")<GitHost, {
  /** Every hook of a repository. */
  readonly hooks: (repository: Repository) => GitHostCall<ReadonlyArray<GitHook>>
  /** Creates an active push hook that carries JSON and the secret. */
  readonly createHook: (
    repository: Repository,
    url: string,
    secret: Redacted.Redacted
  ) => GitHostCall<GitHook>
  /** Makes an existing hook active with this secret; answers the hook as it is now. */
  readonly updateHook: (
    repository: Repository,
    hook: GitHook,
    secret: Redacted.Redacted
  ) => GitHostCall<GitHook>
  readonly deleteHook: (repository: Repository, hook: GitHook) => GitHostCall<void>
  /** Makes the git host deliver an example of a push to a hook. It answers before that is delivered. */
  readonly testHook: (repository: Repository, hook: GitHook) => GitHostCall<void>
  /** Checks, without a change, that the token may manage the hooks of a repository. */
  readonly check: (repository: Repository) => GitHostCall<Finding>
}>() {}
