import { Array, Data, Effect, Option, type Redacted } from "effect"
import type { PlatformRecord } from "../../schema/applications.ts"
import type { GitHook, GitHostFailure, Repository, WebhookFinding } from "../../schema/webhooks.ts"
import { GitHost } from "../../services/githost.ts"
import { type FileLocked, Locks, makeHooksLock } from "../../services/locks/Locks.ts"
import { Settings, type SettingsError } from "../../services/settings/Settings.ts"

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
const findPushHook = (hooks: ReadonlyArray<GitHook>, url: string): Option.Option<GitHook> => {
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
      Update: ({ hook }) =>
        Effect.map(
          gitHost.updateHook(repository, hook, secret),
          ({ id, lost = [] }) =>
            `updated (hook ${id})${
              lost.length === 0 ? "" : `, without its ${lost.join(" and ")}: set that again there`
            }`
        )
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

/** The name of an application's repository: the last segment of its address, without `.git`. */
export const parseRepositoryName = ({ git_repository: address }: PlatformRecord): Option.Option<string> =>
  Option.filter(
    Option.fromNullable((address ?? "").trim().replace(/(?<!\/)\/+$/, "").replace(/\.git$/, "").split(/[/:]/).at(-1)),
    (name) => name !== ""
  )

/** The repository of an application, under the configured owner. */
export const resolveRepository = (name: string): Effect.Effect<Repository, SettingsError, Settings> =>
  Effect.flatMap(Settings, (settings) => Effect.map(settings.get("gitHost.owner"), (owner) => ({ owner, name })))

// `git@host:port/owner/name`, `scheme://user@host:port/owner/name`, or `owner/name`.
const host = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/]*\/|[^/:]*:(?:\d+\/)?)/i

/** Owner in a repository's address; none if the address is only a name. */
export const parseRepositoryOwner = (address: string): Option.Option<string> =>
  Option.filter(
    Option.fromNullable(address.trim().replace(host, "").split("/").filter((part) => part !== "").at(-2)),
    (owner) => owner !== ".."
  )

/** Repository in an application's record, under the configured owner if its address has none. */
export const readRecordedRepository = (
  record: PlatformRecord
): Effect.Effect<Option.Option<Repository>, SettingsError, Settings> =>
  Effect.transposeMapOption(
    parseRepositoryName(record),
    (name) =>
      Option.match(parseRepositoryOwner(record.git_repository ?? ""), {
        onNone: () => resolveRepository(name),
        onSome: (owner) => Effect.succeed({ owner, name })
      })
  )

/** True for two names of the same repository; git hosts ignore case. */
export const isSameRepository = (one: Repository, other: Repository): boolean =>
  one.owner.toLowerCase() === other.owner.toLowerCase() && one.name.toLowerCase() === other.name.toLowerCase()

/** Matches a pattern in which `*` stands for anything; linear for patterns with few stars. */
const fits = (pattern: string, text: string): boolean => {
  const [first = "", ...rest] = pattern.split(/\*+/)
  const last = rest.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at + last.length <= text.length
}

/**
 * True if a hook's branch filter admits a branch. Supports names, `*`, and one list like `{main,release/*}`; a filter
 * with other special characters passes unchecked.
 */
export const matchesBranchFilter = (filter: string, branch: string): boolean => {
  if (filter === "" || /[?[\]\\!]/.test(filter)) return true
  const [, list] = /^\{([^{}]*)\}$/.exec(filter) ?? []
  if (list === undefined && /[{}]/.test(filter)) return true
  return (list ?? filter).split(list === undefined ? /$^/ : ",").some((pattern) => fits(pattern.trim(), branch))
}

/** Reasons why a hook does not deliver pushes to a branch. */
export const checkHook = ({ active, branchFilter = "", events, id }: GitHook, branch: string) => {
  const findings: ReadonlyArray<WebhookFinding | false> = [
    !active &&
    { finding: `Hook ${id} is inactive`, fix: "Set up the application's webhook: that makes the hook active" },
    events !== undefined && !events.includes("push") && {
      finding: `Hook ${id} is not for pushes: ${events.length === 0 ? "it has no events" : events.join(", ")}`,
      fix: "Choose push events for it on the git host"
    },
    !matchesBranchFilter(branchFilter, branch) && {
      finding: `Hook ${id} is for branches like ${branchFilter} only, and the application is built from ${branch}`,
      fix: "Change the branch filter of the hook on the git host"
    }
  ]
  return findings.filter((one) => one !== false)
}
