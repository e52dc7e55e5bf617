import { Effect, Layer, Option, Stream } from "effect"
import { isEnded, type Run, type RunEvent, type RunsQuery } from "../../schema/Run.ts"
import { type Hold, type KeptStep, RunStore, RunTaken, type StoredRun } from "./RunStore.ts"

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
  /** What a process writes of a run that it still holds. */
  const held = ({ attempt, id }: Hold, write: () => void) =>
    Effect.suspend(() => runs.get(id)?.attempt === attempt ? Effect.sync(write) : new RunTaken({ id }))
  const newestFirst = () => [...runs.values()].sort((a, b) => (a.run.id < b.run.id ? 1 : -1))
  const forget = (id: string) => {
    for (const map of [runs, kept, events]) map.delete(id)
  }
  return RunStore.of({
    check: Effect.succeed({ store: "memory", bytes: 0 }),
    ready: Effect.void,
    isShared: Effect.succeed(false),
    release: Effect.void,
    changes: Stream.empty,
    claim: Effect.succeed,
    askToCancel: () => Effect.void,
    ordersFor: () => Effect.succeed({ cancelled: [], taken: [] }),
    insert: (stored) => Effect.as(Effect.sync(() => runs.set(stored.run.id, stored)), Option.none()),
    save: (run, attempt) =>
      Effect.suspend(() =>
        isEnded(runs.get(run.id)?.run.state ?? "queued")
          ? new RunTaken({ id: run.id })
          : held({ id: run.id, attempt }, () => change(run.id, (stored) => ({ ...stored, run })))
      ),
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
    left: (except) =>
      Effect.sync(() =>
        newestFirst().filter(({ run }) => !isEnded(run.state) && !except.includes(run.id)).toReversed()
      ),
    take: ({ attempt, id }) =>
      Effect.sync(() => {
        if (runs.get(id)?.attempt !== attempt) return Option.none()
        change(id, (stored) => ({ ...stored, attempt: attempt + 1 }))
        return Option.some(attempt + 1)
      }),
    steps: (id) => Effect.sync(() => kept.get(id) ?? []),
    beginStep: (hold, step) => held(hold, () => keep(hold.id, { step, result: Option.none() })),
    keepStep: (hold, step, result) => held(hold, () => keep(hold.id, { step, result: Option.some(result) })),
    appendEvents: (hold, more) => held(hold, () => void events.set(hold.id, [...events.get(hold.id) ?? [], ...more])),
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
