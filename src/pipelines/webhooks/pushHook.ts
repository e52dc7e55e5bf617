import { Array, Data, Effect, Option, type Redacted } from "effect"
import type { SettingsError } from "../../schema/Settings.ts"
import type { GitHook, GitHostFailure, Repository } from "../../schema/webhooks/GitHook.ts"
import { GitHost } from "../../services/githost/GitHost.ts"
import { makeHooksLock } from "../../services/locks/LockKey.ts"
import { type FileLocked, Locks } from "../../services/locks/Locks.ts"

type Failure = GitHostFailure | SettingsError | FileLocked

/** Hooks with the address `url`. */
export const withUrl = (hooks: ReadonlyArray<GitHook>, url: string) => hooks.filter((hook) => hook.url === url)

/** Action that makes a repository's pushes reach an address. */
export type HookAction = Data.TaggedEnum<{
  Create: {}
  /** Always written again, because its secret cannot be read. */
  Update: { readonly hook: GitHook }
}>
export const HookAction = Data.taggedEnum<HookAction>()

/** Relevant hook among those with the address `url`: an active one if possible. */
export const findPushHook = (hooks: ReadonlyArray<GitHook>, url: string): Option.Option<GitHook> => {
  const leading = withUrl(hooks, url)
  return Option.orElse(Array.findFirst(leading, ({ active }) => active), () => Array.head(leading))
}

/** Decides from a repository's hooks how its pushes reach `url`. */
export const decideHookAction = (hooks: ReadonlyArray<GitHook>, url: string): HookAction =>
  Option.match(findPushHook(hooks, url), {
    onNone: () => HookAction.Create(),
    onSome: (hook) => HookAction.Update({ hook })
  })

/**
 * Makes a repository's pushes reach `url`, signed with the secret: updates the hook with this address, or creates one.
 * Reads the hooks under the repository's lock, since all its applications share them.
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
 * Deletes the hooks of a repository with the address `url`; returns their number.
 * @param only ids of planned hooks; hooks created since are kept
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
