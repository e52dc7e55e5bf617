import { Effect, SynchronizedRef } from "effect"
import type { HookChanges, NewHook } from "./gitHostFields.ts"
import { Refused } from "./Refused.ts"

/** Hook as the git host stores it, including its secret. */
export interface StoredHook {
  readonly id: number
  readonly type: string
  readonly active: boolean
  readonly events: ReadonlyArray<string>
  readonly url: string
  readonly contentType: string
  readonly secret: string
  readonly branchFilter?: string
}

/** Initial contents of a git host: repositories as `owner/name`, with their hooks. */
export interface GitHostSeed {
  readonly repositories?: Readonly<Record<string, ReadonlyArray<Partial<StoredHook>>>>
}

/** In-memory git host. The doubles format its responses. */
export type GitHostState = Effect.Effect.Success<ReturnType<typeof makeGitHostState>>

interface Contents {
  readonly repositories: ReadonlyMap<string, ReadonlyArray<StoredHook>>
  readonly counter: number
}

const plainHook = { type: "githost", active: true, events: ["push"], url: "", contentType: "json", secret: "" }

const seeded = ({ repositories = {} }: GitHostSeed): Contents => {
  let counter = 0
  const entries = Object.entries(repositories).map(([name, hooks]) =>
    [name, hooks.map((hook): StoredHook => ({ id: ++counter, ...plainHook, ...hook }))] as const
  )
  return { repositories: new Map(entries), counter }
}

const find = (hooks: ReadonlyArray<StoredHook>, id: number): Effect.Effect<StoredHook, Refused> => {
  const hook = hooks.find((one) => one.id === id)
  return hook === undefined ? Effect.fail(Refused.missing("Hook")) : Effect.succeed(hook)
}

/** Creates a git host that contains only the seed. */
export const makeGitHostState = (seed: GitHostSeed = {}) =>
  Effect.gen(function*() {
    const contents = yield* SynchronizedRef.make(seeded(seed))
    /** Changes the hooks of a repository atomically; a refused change has no effect. */
    const transact = <A>(
      repository: string,
      change: (
        hooks: ReadonlyArray<StoredHook>,
        id: number
      ) => Effect.Effect<readonly [A, ReadonlyArray<StoredHook>], Refused>
    ): Effect.Effect<A, Refused> =>
      SynchronizedRef.modifyEffect(contents, (now) =>
        Effect.gen(function*() {
          const hooks = now.repositories.get(repository)
          if (hooks === undefined) return yield* Refused.missing("Repository")
          const [result, next] = yield* change(hooks, now.counter + 1)
          const counter = Math.max(now.counter, ...next.map(({ id }) => id))
          return [result, { counter, repositories: new Map([...now.repositories, [repository, next]]) }] as const
        }))

    return {
      hooks: (repository: string) => transact(repository, (hooks) => Effect.succeed([hooks, hooks] as const)),
      create: (
        repository: string,
        { active = false, branch_filter: branchFilter, config, events = [], type }: NewHook
      ) =>
        transact(repository, (hooks, id) => {
          const { content_type: contentType, secret = "", url } = config
          const filter = branchFilter === undefined ? {} : { branchFilter }
          const hook: StoredHook = { id, type, active, events, url, contentType, secret, ...filter }
          return Effect.succeed([hook, [...hooks, hook]] as const)
        }),
      update: (repository: string, id: number, { active, branch_filter: branchFilter, config, events }: HookChanges) =>
        transact(repository, (hooks) =>
          Effect.map(find(hooks, id), (hook) => {
            const next: StoredHook = {
              ...hook,
              active: active ?? hook.active,
              events: events ?? hook.events,
              url: config?.url ?? hook.url,
              contentType: config?.content_type ?? hook.contentType,
              secret: config?.secret ?? hook.secret,
              ...(branchFilter === undefined ? {} : { branchFilter })
            }
            return [next, hooks.map((one) => one === hook ? next : one)] as const
          })),
      remove: (repository: string, id: number) =>
        transact(
          repository,
          (hooks) => Effect.map(find(hooks, id), (hook) => [undefined, hooks.filter((one) => one !== hook)] as const)
        )
    }
  })
