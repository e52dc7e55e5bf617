import { NodeContext } from "@effect/platform-node"
import { Effect, Layer, Schema } from "effect"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { LocksLive } from "../../src/services/locks/Locks.ts"
import { RunsLive } from "../../src/services/runs/engine.ts"
import { Runs } from "../../src/services/runs/Runs.ts"
import { executeDurableStep } from "../../src/services/runs/Steps.ts"
import { servicesLive } from "../../src/services/ServicesLive.ts"
import { RunStoreMemory } from "../../src/testing/RunsTest.ts"
import { load, median } from "../numbers.ts"
import type { Section } from "../report.ts"

const steps = 100

/** A run of steps that do nothing: what it takes is what keeping them takes. */
const oneRun = (round: number) =>
  Effect.gen(function*() {
    const program = Effect.forEach(
      Array.from({ length: steps }, (_, index) => index),
      (index) => executeDurableStep(`step ${index}`, Schema.Number, () => Effect.succeed(index), () => ""),
      { discard: true }
    )
    const spec = {
      kind: "upsert",
      key: { rank: 1, name: `bench ${round}` },
      subject: {},
      request: {},
      result: Schema.Void,
      afterRestart: "give up"
    } as const
    const began = performance.now()
    const before = process.cpuUsage()
    yield* (yield* Runs).run(spec, program)
    const { system, user } = process.cpuUsage(before)
    return { millis: (performance.now() - began) / steps, cpu: (system + user) / 1_000 / steps }
  })

const measured = (rounds: number) =>
  Effect.gen(function*() {
    // The first one loads what it takes.
    yield* oneRun(0)
    const all = yield* Effect.forEach(Array.from({ length: rounds }), (_, round) => oneRun(round + 1))
    return { millis: median(all.map((one) => one.millis)), cpu: median(all.map((one) => one.cpu)) }
  })

const few = (value: number) => `${value.toFixed(1)} ms`

/** Measures recording one step of a run, so that a restart does not repeat it. */
export const durableSteps = (directory: string, rounds: number) =>
  Effect.gen(function*() {
    const place = join(directory, "steps")
    yield* Effect.promise(async () => {
      await mkdir(place, { recursive: true })
      await writeFile(join(place, "berth.yaml"), "", { mode: 0o600 })
    })
    const live = Layer.provideMerge(servicesLive(join(place, "berth.yaml")), NodeContext.layer)
    const inMemory = Layer.provide(RunsLive, RunStoreMemory)
    const [file, memory] = yield* Effect.all([
      measured(rounds).pipe(Effect.provide(live)),
      measured(rounds).pipe(Effect.provide(inMemory), Effect.provide(LocksLive), Effect.provide(live))
    ])
    const section: Section = {
      title: `One of ${steps} steps of a run that do nothing`,
      columns: ["runs are kept", "time", "processor time"],
      rows: [
        ["in `berth.db`", few(file.millis), few(file.cpu)],
        ["in memory, to compare", few(memory.millis), few(memory.cpu)]
      ],
      notes: [load()]
    }
    return { section, cpu: file.cpu }
  })
