import { Schema } from "effect"
import type { Unsendable } from "../basics/Upstream.ts"

/** A repository of the git host. */
export interface Repository {
  readonly owner: string
  readonly name: string
}

/** Webhook of a repository. */
export const GitHook = Schema.Struct({
  id: Schema.Number,
  active: Schema.Boolean,
  url: Schema.String,
  /** Branch filter: empty for all branches; absent when the git host does not report it. */
  branchFilter: Schema.optional(Schema.String),
  /** Events that trigger a delivery; absent when the git host does not report them. */
  events: Schema.optional(Schema.Array(Schema.String))
}).annotations({ identifier: "GitHook" })
export interface GitHook extends Schema.Schema.Type<typeof GitHook> {}

/** The git host refused a call. */
export class GitHostRefused extends Schema.TaggedError<GitHostRefused>()("GitHostRefused", {
  upstream: Schema.Number,
  words: Schema.String
}) {
  readonly status = 502
  override get message() {
    return `Git host API ${this.upstream}: ${this.words}`
  }
}

/** The git host could not be reached, timed out, or sent an invalid response. */
export class GitHostUnavailable extends Schema.TaggedError<GitHostUnavailable>()("GitHostUnavailable", {
  call: Schema.String,
  reason: Schema.String
}) {
  readonly status = 502
  override get message() {
    return `Git host API: ${this.call}: ${this.reason}`
  }
}

export type GitHostFailure = GitHostRefused | GitHostUnavailable | Unsendable
