import { Context, type Effect, type Redacted } from "effect"
import type { Finding } from "../../schema/Health.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { GitHook, GitHostFailure, Repository } from "../../schema/webhooks/GitHook.ts"

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
  /** Activates an existing hook with this secret; returns the updated hook. */
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
