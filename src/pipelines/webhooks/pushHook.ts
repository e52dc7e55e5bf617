import { Effect, type Redacted } from "effect"
import type { GitHook, GitHostFailure, Repository } from "../../schema/GitHook.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { GitHost } from "../../services/githost/GitHost.ts"
import { hooksLock } from "../../services/locks/LockKey.ts"
import { type FileLocked, Locks } from "../../services/locks/Locks.ts"

type Failure = GitHostFailure | SettingsError | FileLocked

const withUrl = (hooks: ReadonlyArray<GitHook>, url: string) => hooks.filter((hook) => hook.url === url)

/** Makes a repository's pushes reach `url`, signed with the secret: updates the hook that leads there, or creates one. */
export const ensureHook = Effect.fn("ensureHook")(function*(
  repository: Repository,
  url: string,
  secret: Redacted.Redacted
): Effect.fn.Return<string, Failure, GitHost | Locks> {
  const gitHost = yield* GitHost
  const locks = yield* Locks
  return yield* Effect.gen(function*() {
    const [existing] = withUrl(yield* gitHost.hooks(repository), url)
    if (existing === undefined) return `created (hook ${(yield* gitHost.createHook(repository, url, secret)).id})`
    return `updated (hook ${(yield* gitHost.updateHook(repository, existing, secret)).id})`
  }).pipe(locks.withLock(hooksLock(repository)))
})

/** Deletes every hook of a repository that leads to `url`; answers how many there were. */
export const removeHooks = Effect.fn("removeHooks")(function*(
  repository: Repository,
  url: string
): Effect.fn.Return<number, Failure, GitHost | Locks> {
  const gitHost = yield* GitHost
  const locks = yield* Locks
  return yield* Effect.gen(function*() {
    const hooks = withUrl(yield* gitHost.hooks(repository), url)
    yield* Effect.forEach(hooks, (hook) => gitHost.deleteHook(repository, hook))
    return hooks.length
  }).pipe(locks.withLock(hooksLock(repository)))
})

/** Whether an active hook of a repository leads to `url`. */
export const hookActive = Effect.fn("hookActive")(function*(
  repository: Repository,
  url: string
): Effect.fn.Return<boolean, GitHostFailure | SettingsError, GitHost> {
  const gitHost = yield* GitHost
  return withUrl(yield* gitHost.hooks(repository), url).some(({ active }) => active)
})
