import { Context, Effect, Layer, Redacted, Ref } from "effect"
import { type GitHostSeed, makeGitHostState, type StoredHook } from "../../src/sandbox/doubles/gitHostState.ts"
import type { Refused } from "../../src/sandbox/doubles/Refused.ts"
import { GitHostRefused, type Repository } from "../../src/schema/webhooks/GitHook.ts"
import { GitHost, type GitHostCall } from "../../src/services/githost/GitHost.ts"

/** The name of an operation and what it was called with, secrets in the clear. */
export type GitHostAsked = readonly [operation: keyof GitHost["Type"], ...given: ReadonlyArray<unknown>]

/** Calls to the git host in order, and its hooks. */
export class GitHostCalls extends Context.Tag("berth/test/GitHostCalls")<GitHostCalls, {
  readonly asked: Effect.Effect<ReadonlyArray<GitHostAsked>>
  readonly hooks: (repository: string) => Effect.Effect<ReadonlyArray<StoredHook>>
}>() {}

export interface GitHostTestOptions extends GitHostSeed {
  /** Operations that fail, and with what status. */
  readonly failing?: { readonly [operation in keyof GitHost["Type"]]?: number }
}

const refused = ({ what, why }: Refused) =>
  new GitHostRefused({ upstream: why === "missing" ? 404 : 422, words: `{"message":"${what}: ${why}"}` })
const pathOf = ({ name, owner }: Repository) => `${owner}/${name}`

/** In-memory git host. */
export const gitHostTest = (options: GitHostTestOptions = {}): Layer.Layer<GitHost | GitHostCalls> =>
  Layer.effectContext(Effect.gen(function*() {
    const { failing = {} } = options
    const state = yield* makeGitHostState(options)
    const asked = yield* Ref.make<ReadonlyArray<GitHostAsked>>([])

    const call = <A>(question: GitHostAsked, answer: Effect.Effect<A, Refused>): GitHostCall<A> =>
      Effect.gen(function*() {
        yield* Ref.update(asked, (before) => [...before, question])
        const status = failing[question[0]]
        if (status !== undefined) return yield* new GitHostRefused({ upstream: status, words: "not today" })
        return yield* Effect.mapError(answer, refused)
      })

    const gitHost = GitHost.of({
      hooks: (repository) => call(["hooks", pathOf(repository)], state.hooks(pathOf(repository))),
      createHook: (repository, url, secret) =>
        call(
          ["createHook", pathOf(repository), url, Redacted.value(secret)],
          state.create(pathOf(repository), {
            type: "githost",
            active: true,
            events: ["push"],
            config: { url, content_type: "json", secret: Redacted.value(secret) }
          })
        ),
      updateHook: (repository, { id }, secret) =>
        call(
          ["updateHook", pathOf(repository), id, Redacted.value(secret)],
          state.update(pathOf(repository), id, { active: true, config: { secret: Redacted.value(secret) } })
        ),
      deleteHook: (repository, { id }) =>
        call(["deleteHook", pathOf(repository), id], state.remove(pathOf(repository), id)),
      testHook: (repository, { id }) =>
        call(["testHook", pathOf(repository), id], Effect.asVoid(state.update(pathOf(repository), id, {}))),
      check: (repository) =>
        call(["check", pathOf(repository)], Effect.succeed({ name: "git host", ok: true, detail: pathOf(repository) }))
    })
    const hooks = (repository: string) => Effect.orElseSucceed(state.hooks(repository), () => [])
    return Context.make(GitHost, gitHost).pipe(Context.add(GitHostCalls, { asked: Ref.get(asked), hooks }))
  }))
