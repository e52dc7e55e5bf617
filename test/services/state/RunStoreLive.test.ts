import { expect, it } from "@effect/vitest"
import { Duration, Effect, Layer, Metric, MetricState, Option } from "effect"
import { InstanceLive } from "../../../src/services/runs/Runs.ts"
import { RunHistory, RunRecords } from "../../../src/services/runs/store.ts"
import { type HolderKind, holdTimeout, runRecordsLive } from "../../../src/services/state/RunStoreLive.ts"
import { RunStoreMemory } from "../../../src/testing/RunsTest.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"

/** Ended runs of the kind exec, in a process of other tests too. */
const counted = Effect.map(
  Metric.snapshot,
  (pairs) =>
    pairs.reduce(
      (sum, { metricKey: { name, tags }, metricState }) =>
        name === "berth_runs_total" && tags.some(({ value }) => value === "exec") &&
          MetricState.isCounterState(metricState)
          ? sum + Number(metricState.count)
          : sum,
      0
    )
)

it.effect("an entry of the history counts as a run, as it is one there", () =>
  Effect.gen(function*() {
    const before = yield* counted
    const { add } = yield* RunRecords
    yield* add({
      kind: "exec",
      subject: { serverId: "1", container: "app-web-1", command: ["ls"] },
      requestedBy: { door: "http", name: "ann" },
      step: { name: "exec", detail: "" }
    })
    expect((yield* (yield* RunHistory).list({})).runs).toMatchObject([{ kind: "exec", state: "succeeded" }])
    expect(yield* counted).toBe(before + 1)
  }).pipe(Effect.provide(
    runRecordsLive("/nowhere/berth.db", undefined).pipe(
      Layer.provideMerge(RunStoreMemory),
      Layer.provide(Layer.merge(InstanceLive, settingsTest()))
    )
  )))

/** Seconds that calls wait for a holder: reads and changes of a command, then of a service; none without a limit. */
const waits: Readonly<Record<HolderKind, ReadonlyArray<number | undefined>>> = {
  command: [1, undefined, 1, undefined],
  service: [1, 1, 0, 3],
  unknown: [1, 3, 1, 3]
}

it.each(Object.entries(waits))("a store that a holder of the kind %s has is waited for briefly", (kind, seconds) => {
  const holder: HolderKind = kind === "command" || kind === "service" ? kind : "unknown"
  const given = [true, false].flatMap((isCommand) =>
    [true, false].map((isRead) =>
      Option.getOrUndefined(Option.map(holdTimeout(holder, { isCommand, isRead }), Duration.toSeconds))
    )
  )
  expect(given).toEqual(seconds)
})
