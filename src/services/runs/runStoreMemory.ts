import { Effect, Layer, Option } from "effect"
import { isEnded, type Run, type RunEvent, type RunsQuery } from "../../schema/Run.ts"
import { type KeptStep, RunStore, type StoredRun } from "./RunStore.ts"

const fits = ({ appName, before, kind, projectPath, serverId, state }: RunsQuery) => ({ id, subject, ...run }: Run) =>
  (kind === undefined || run.kind === kind) &&
  (state === undefined || run.state === state) &&
  (serverId === undefined || subject.serverId === serverId) &&
  (projectPath === undefined || subject.projectPath === projectPath) &&
  (appName === undefined || subject.appName === appName) &&
  (before === undefined || id < before)

const make = Effect.sync(() => {
  const runs = new Map<string, StoredRun>()
  const kept = new Map<string, ReadonlyArray<KeptStep>>()
  const events = new Map<string, ReadonlyArray<RunEvent>>()
  const change = (id: string, change: (stored: StoredRun) => StoredRun) => {
    const stored = runs.get(id)
    if (stored !== undefined) runs.set(id, change(stored))
  }
  const keep = (id: string, next: KeptStep) => {
    const others = (kept.get(id) ?? []).filter(({ step }) => step !== next.step)
    kept.set(id, [...others, next])
  }
  const newestFirst = () => [...runs.values()].sort((a, b) => (a.run.id < b.run.id ? 1 : -1))
  const forget = (id: string) => {
    for (const map of [runs, kept, events]) map.delete(id)
  }
  return RunStore.of({
    name: "memory",
    check: Effect.succeed(0),
    ready: Effect.void,
    insert: (stored) => Effect.sync(() => void runs.set(stored.run.id, stored)),
    save: (run) => Effect.sync(() => change(run.id, (stored) => ({ ...stored, run }))),
    find: (id) => Effect.sync(() => Option.map(Option.fromNullable(runs.get(id)), ({ run }) => run)),
    list: (query) =>
      Effect.sync(() => {
        const found = newestFirst().map(({ run }) => run).filter(fits(query))
        const page = found.slice(0, query.limit ?? 50)
        return { runs: page, next: found.length > page.length ? page.at(-1)?.id ?? null : null }
      }),
    findByKey: (key, since) =>
      Effect.sync(() =>
        Option.fromNullable(
          newestFirst().flatMap(({ idempotency, run }) =>
            Option.match(idempotency, {
              onNone: () => [],
              onSome: ({ digest, key: own }) =>
                own === key && Date.parse(run.requestedAt) >= since ? [{ run, digest }] : []
            })
          )[0]
        )
      ),
    unfinished: Effect.sync(() => newestFirst().filter(({ run }) => !isEnded(run.state)).toReversed()),
    beginAttempt: (id) =>
      Effect.sync(() => {
        change(id, (stored) => ({ ...stored, attempt: stored.attempt + 1 }))
        return runs.get(id)?.attempt ?? 1
      }),
    steps: (id) => Effect.sync(() => kept.get(id) ?? []),
    beginStep: (id, step) => Effect.sync(() => keep(id, { step, result: Option.none() })),
    keepStep: (id, step, result) => Effect.sync(() => keep(id, { step, result: Option.some(result) })),
    appendEvents: (id, more) => Effect.sync(() => void events.set(id, [...events.get(id) ?? [], ...more])),
    events: (id, after) => Effect.sync(() => (events.get(id) ?? []).filter((event) => event.id > after)),
    purge: (before, most) =>
      Effect.sync(() => {
        const ended = newestFirst().filter(({ run }) => isEnded(run.state))
        for (const [index, { run }] of ended.entries()) {
          if (index >= most || Date.parse(run.requestedAt) < before) forget(run.id)
        }
      })
  })
})

/** Runs in the memory of this process: they are gone with it. */
export const RunStoreMemory: Layer.Layer<RunStore> = Layer.effect(RunStore, make)
