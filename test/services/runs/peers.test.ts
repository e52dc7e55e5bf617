import { describe, expect, it } from "@effect/vitest"
import { Chunk, Effect, Option, Stream } from "effect"
import { type Run, type RunEvent, RunStoreUnavailable } from "../../../src/schema/runs.ts"
import { watchPeerRun } from "../../../src/services/runs/peers.ts"
import { storedRun } from "../../fixtures/runs/storedRuns.ts"

const step = (done: number) => ({
  step: "upload",
  status: "running" as const,
  detail: "",
  startedAt: "2026-01-02T03:04:05.678Z",
  endedAt: null,
  progress: { done, total: 10, unit: "bytes" as const }
})
const running = storedRun(1, { state: "running", steps: [step(1)] })
const printed = (id: number): RunEvent => ({ id, event: "output", data: `{"text":"${id}"}` })

/** Events of a watcher that finds these runs at its looks; undefined stands for an unavailable store. */
const heard = (
  looks: ReadonlyArray<readonly [run: Run | undefined, printed: ReadonlyArray<RunEvent>]>,
  after: Option.Option<number> = Option.none()
) => {
  let look = -1
  const away = new RunStoreUnavailable({ store: "elsewhere", reason: "it is away" })
  const store = {
    find: () =>
      Effect.suspend(() => {
        look += 1
        const run = looks[look]?.[0]
        return run === undefined ? away : Effect.succeedSome(run)
      }),
    events: (_: string, cursor: number) => Effect.sync(() => (looks[look]?.[1] ?? []).filter(({ id }) => id > cursor))
  }
  const changes = Stream.fromIterable(looks.map(() => undefined))
  return Effect.map(
    Stream.runCollect(watchPeerRun(store, "run", after, changes)),
    (events) => Chunk.toReadonlyArray(events).map(({ event, id }) => `${event} ${id}`)
  )
}

describe("a run that another process carries out", () => {
  it.effect("is told whole at first, and then what changes of it, to its end", () =>
    Effect.gen(function*() {
      const further = { ...running, steps: [step(5)] }
      expect(
        yield* heard([
          [running, [printed(1), printed(2)]],
          [running, [printed(1), printed(2)]],
          [running, [printed(1), printed(2), printed(3)]],
          [further, [printed(3)]],
          [undefined, []],
          [{ ...further, state: "succeeded" }, [printed(3), printed(4)]],
          [{ ...further, state: "succeeded" }, [printed(3), printed(4)]]
        ])
      ).toEqual(["run 2", "output 3", "progress 3", "output 4", "run 4", "end 4"])
    }))

  it.effect("tells who comes back what it has printed since", () =>
    Effect.gen(function*() {
      expect(yield* heard([[running, [printed(1), printed(2), printed(3)]]], Option.some(1))).toEqual([
        "output 2",
        "output 3",
        "run 3"
      ])
    }))
})
