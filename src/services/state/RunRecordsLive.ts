import { Clock, Context, type Duration, Effect, Layer, Option } from "effect"
import { countEnd } from "../metrics/metrics.ts"
import type { Instance } from "../runs/Instance.ts"
import { RunHistory } from "../runs/RunHistory.ts"
import { makeRunIds } from "../runs/runId.ts"
import { type RunRecord, RunRecords } from "../runs/RunRecords.ts"
import type { StoredRun } from "../runs/StoredRun.ts"
import { runWorkflow } from "../runs/workflow/runWorkflow.ts"
import { Settings } from "../settings/Settings.ts"
import { isHeldHere } from "./discovery/storeHolder.ts"
import { runStoreLive } from "./RunStoreLive.ts"

const storedRun = ({ kind, requestedBy, step, subject }: RunRecord, id: string, now: string): StoredRun => ({
  run: {
    id,
    kind,
    subject,
    state: "succeeded",
    requestedBy,
    requestedAt: now,
    startedAt: now,
    endedAt: now,
    steps: [{ step: step.name, status: "done", detail: step.detail, startedAt: now, endedAt: now }],
    result: null,
    error: null
  },
  request: null,
  workflow: runWorkflow(kind).name,
  queue: `${kind} ${id}`,
  idempotency: Option.none(),
  attempt: 1
})

/**
 * Adds entries to the store of runs.
 * @param holderTimeout as for `runStoreLive`; if given, this process serves no others, and holds the file only while it
 * adds an entry: the recorded action may last for hours
 */
export const runRecordsLive = (
  file: string,
  holderTimeout: Duration.DurationInput | undefined
): Layer.Layer<RunRecords, never, Instance | RunHistory | Settings> =>
  Layer.effect(
    RunRecords,
    Effect.gen(function*() {
      const context = yield* Effect.context<Instance | Settings>()
      const history = yield* RunHistory
      const settings = yield* Settings
      const newId = yield* makeRunIds
      // Fails with the holder's name if a deploy holds the store: a user waits at a terminal.
      const brief = Layer.fresh(runStoreLive(file)).pipe(
        Layer.build,
        Effect.map(Context.get(RunHistory)),
        Effect.provide(context)
      )
      return {
        add: Effect.fn("RunRecords.add")((record: RunRecord) =>
          Effect.gen(function*() {
            const now = new Date(yield* Clock.currentTimeMillis).toISOString()
            const stored = storedRun(record, yield* newId, now)
            // A second link to a shared database would take over the lease of the first.
            const isShared = Option.isSome(Option.flatten(yield* Effect.option(settings.find("state.url"))))
            const keeps = holderTimeout === undefined || isShared || (yield* isHeldHere(file))
            yield* (keeps ? history : yield* brief).insert(stored)
            yield* countEnd(stored.run)
          }).pipe(Effect.scoped)
        )
      }
    })
  )
