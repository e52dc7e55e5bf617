import { Array, Data, Effect, Option, type Redacted } from "effect"
import type { SettingsError } from "../../schema/Settings.ts"
import type { GitHook, GitHostFailure, Repository } from "../../schema/webhooks/GitHook.ts"
import { GitHost } from "../../services/githost/GitHost.ts"
import { makeHooksLock } from "../../services/locks/LockKey.ts"
import { type FileLocked, Locks } from "../../services/locks/Locks.ts"

type Failure = GitHostFailure | SettingsError | FileLocked

/** The hooks that lead to `url`. */
export const withUrl = (hooks: ReadonlyArray<GitHook>, url: string) => hooks.filter((hook) => hook.url === url)

/** Action that makes a repository's pushes reach an address. */
export type HookAction = Data.TaggedEnum<{
  Create: {}
  /** It is written again even where nothing seems to differ: its secret cannot be read. */
  Update: { readonly hook: GitHook }
}>
export const HookAction = Data.taggedEnum<HookAction>()

/** The hook that counts among those that lead to `url`: an active one, where there is one. */
export const findPushHook = (hooks: ReadonlyArray<GitHook>, url: string): Option.Option<GitHook> => {
  const leading = withUrl(hooks, url)
  return Option.orElse(Array.findFirst(leading, ({ active }) => active), () => Array.head(leading))
}

/** Decides from a repository's hooks what makes its pushes reach `url`. */
export const decideHookAction = (hooks: ReadonlyArray<GitHook>, url: string): HookAction =>
  Option.match(findPushHook(hooks, url), {
    onNone: () => HookAction.Create(),
    onSome: (hook) => HookAction.Update({ hook })
  })

/**
 * Makes a repository's pushes reach `url`, signed with the secret: updates the hook that leads there, or creates one.
 * The list of hooks is read under the repository's lock, since all its applications share it.
 * @param matchesPlan fails if the decided action is not the planned one
 */
export const ensureHook = Effect.fn("ensureHook")(function*<E = never>(
  repository: Repository,
  url: string,
  secret: Redacted.Redacted,
  matchesPlan: (action: HookAction) => Effect.Effect<void, E> = () => Effect.void
): Effect.fn.Return<string, Failure | E, GitHost | Locks> {
  const gitHost = yield* GitHost
  const locks = yield* Locks
  return yield* Effect.gen(function*() {
    const action = decideHookAction(yield* gitHost.hooks(repository), url)
    yield* matchesPlan(action)
    return yield* HookAction.$match(action, {
      Create: () => Effect.map(gitHost.createHook(repository, url, secret), ({ id }) => `created (hook ${id})`),
      Update: ({ hook }) => Effect.map(gitHost.updateHook(repository, hook, secret), ({ id }) => `updated (hook ${id})`)
    })
  }).pipe(locks.withLock(makeHooksLock(repository)))
})

/**
 * Deletes the hooks of a repository that lead to `url`; returns their number.
 * @param only ids of planned hooks; a hook that was created since stays
 */
export const removeHooks = Effect.fn("removeHooks")(function*(
  repository: Repository,
  url: string,
  only?: ReadonlyArray<number>
): Effect.fn.Return<number, Failure, GitHost | Locks> {
  const gitHost = yield* GitHost
  const locks = yield* Locks
  return yield* Effect.gen(function*() {
    const hooks = withUrl(yield* gitHost.hooks(repository), url).filter(({ id }) => only?.includes(id) ?? true)
    yield* Effect.forEach(hooks, (hook) => gitHost.deleteHook(repository, hook))
    return hooks.length
  }).pipe(locks.withLock(makeHooksLock(repository)))
})

/** True if an active hook of a repository points to `url`. */
export const isHookActive = Effect.fn("isHookActive")(function*(
  repository: Repository,
  url: string
): Effect.fn.Return<boolean, GitHostFailure | SettingsError, GitHost> {
  const gitHost = yield* GitHost
  return withUrl(yield* gitHost.hooks(repository), url).some(({ active }) => active)
})
