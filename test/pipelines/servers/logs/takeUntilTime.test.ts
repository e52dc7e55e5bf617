import { expect, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Stream, TestClock } from "effect"
import { takeUntilTime } from "../../../../src/pipelines/servers/logs.ts"
import type { LogLine } from "../../../../src/schema/logs.ts"

const line = (time: string, text: string): LogLine => ({ time, service: "web", stream: "stdout", text })

it.effect("a line past the end leaves the earlier ones of other containers to follow", () =>
  Effect.gen(function*() {
    const live = Stream.concat(
      Stream.make(
        line("1970-01-01T00:00:01Z", "in time"),
        line("1970-01-01T00:00:06Z", "too late"),
        line("1970-01-01T00:00:04Z", "of another container")
      ),
      Stream.never
    )
    const reading = yield* Effect.fork(
      Stream.runCollect(takeUntilTime(live, { until: "1970-01-01T00:00:05Z" }))
    )
    yield* TestClock.adjust("10 seconds")
    expect(Chunk.toReadonlyArray(yield* Fiber.join(reading)).map(({ text }) => text))
      .toEqual(["in time", "of another container"])
  }))
