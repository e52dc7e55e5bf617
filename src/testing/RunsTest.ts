import { Effect, Layer, Option, Stream } from "effect"
import { isEnded, type Run, type RunEvent, type RunsQuery } from "../schema/runs.ts"
import { Locks, LocksLive } from "../services/locks/Locks.ts"
import { RunsLive } from "../services/runs/engine.ts"
import {
  type RunFence,
  type RunHistory,
  type RunOwnership,
  type RunStore,
  runStoreLayer,
  RunTakenOver,
  type StepResult,
  type StoredRun
} from "../services/runs/store.ts"

/** Locks within this process alone, for files that are no real ones. */
export const locksTest: Layer.Layer<Locks> = Layer.provide(
  Layer.effect(
    Locks,
    Effect.map(Locks, (locks) => Locks.of({ ...locks, withLock: ({ name, rank }) => locks.withLock({ name, rank }) }))
  ),
  LocksLive
)

const fits = ({ appName, before, kind, projectPath, serverId, state }: RunsQuery) => ({ id, subject, ...run }: Run) =>
  (kind === undefined || run.kind === kind) &&
  (state === undefined || run.state === state) &&
  (serverId === undefined || subject.serverId === serverId) &&
  (projectPath === undefined || subject.projectPath === projectPath) &&
  (appName === undefined || subject.appName === appName) &&
  (before === undefined || id < before)

/** Makes a store of runs in memory, which ends with the process. */
export const makeRunStoreMemory = Effect.sync((): RunStore => {
  const runs = new Map<string, StoredRun>()
  const steps = new Map<string, ReadonlyArray<StepResult>>()
  const events = new Map<string, ReadonlyArray<RunEvent>>()
  const change = (id: string, change: (stored: StoredRun) => StoredRun) => {
    const stored = runs.get(id)
    if (stored !== undefined) runs.set(id, change(stored))
  }
  const putStep = (id: string, next: StepResult) => {
    const others = (steps.get(id) ?? []).filter(({ step }) => step !== next.step)
    steps.set(id, [...others, next])
  }
  const fenced = ({ attempt, id }: RunFence, write: () => void) =>
    Effect.suspend(() => runs.get(id)?.attempt === attempt ? Effect.sync(write) : new RunTakenOver({ id }))
  const newestFirst = () => [...runs.values()].sort((a, b) => (a.run.id < b.run.id ? 1 : -1))
  const forget = (id: string) => {
    for (const map of [runs, steps, events]) map.delete(id)
  }
  const history: RunHistory["Type"] = {
    ready: Effect.void,
    insert: (stored) => Effect.as(Effect.sync(() => runs.set(stored.run.id, stored)), Option.none()),
    save: (run, attempt) =>
      Effect.suspend(() =>
        isEnded(runs.get(run.id)?.run.state ?? "queued")
          ? new RunTakenOver({ id: run.id })
          : fenced({ id: run.id, attempt }, () => change(run.id, (stored) => ({ ...stored, run })))
      ),
    find: (id) => Effect.sync(() => Option.map(Option.fromNullable(runs.get(id)), ({ run }) => run)),
    list: (query) =>
      Effect.sync(() => {
        const found = newestFirst().map(({ run }) => run).filter(fits(query))
        const page = found.slice(0, query.limit ?? 50)
        return { runs: page, next: found.length > page.length ? page.at(-1)?.id ?? null : null }
      }),
    count: Effect.sync(() => {
      const of = (state: Run["state"]) => [...runs.values()].filter(({ run }) => run.state === state).length
      return { queued: of("queued"), running: of("running") }
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
    appendEvents: (fence, more) =>
      fenced(fence, () => void events.set(fence.id, [...events.get(fence.id) ?? [], ...more])),
    events: (id, after) => Effect.sync(() => (events.get(id) ?? []).filter((event) => event.id > after)),
    check: Effect.succeed({ store: "memory", bytes: 0 }),
    purge: (before, most) =>
      Effect.sync(() => {
        const ended = newestFirst().filter(({ run }) => isEnded(run.state))
        for (const [index, { run }] of ended.entries()) {
          if (index >= most || Date.parse(run.requestedAt) < before) forget(run.id)
        }
      })
  }
  const ownership: RunOwnership["Type"] = {
    isShared: Effect.succeed(false),
    unowned: (except) =>
      Effect.sync(() =>
        newestFirst().filter(({ run }) => !isEnded(run.state) && !except.includes(run.id)).toReversed()
      ),
    takeOver: ({ attempt, id }) =>
      Effect.sync(() => {
        if (runs.get(id)?.attempt !== attempt) return Option.none()
        change(id, (stored) => ({ ...stored, attempt: attempt + 1 }))
        return Option.some(attempt + 1)
      }),
    claimTurns: Effect.succeed,
    heads: (queues) =>
      Effect.sync(() => {
        const unfinished = [...runs.values()].filter(({ run }) => !isEnded(run.state))
        return new Map(queues.flatMap((queue) => {
          const head = unfinished.find((stored) => stored.queue === queue)
          return head === undefined ? [] : [[queue, head.run] as const]
        }))
      }),
    requestCancel: () => Effect.void,
    peerActions: () => Effect.succeed({ cancelled: [], takenOver: [] }),
    release: Effect.void,
    changes: Stream.empty,
    stepResults: (id) => Effect.sync(() => steps.get(id) ?? []),
    beginStep: (fence, step) => fenced(fence, () => putStep(fence.id, { step, result: Option.none() })),
    completeStep: (fence, step, result) => fenced(fence, () => putStep(fence.id, { step, result: Option.some(result) }))
  }
  return { history, ownership }
})

export const RunStoreMemory: Layer.Layer<RunHistory | RunOwnership> = runStoreLayer(makeRunStoreMemory)

/** Runs that are kept in memory, with the locks that they hold. */
export const runsTest = RunsLive.pipe(Layer.provide(RunStoreMemory), Layer.provideMerge(locksTest))
