import { expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Stream, TestClock } from "effect"
import { Screen } from "../../../src/cli/output.ts"
import { followRun } from "../../../src/cli/runView.ts"
import { Berth, type StartedRun } from "../../../src/client/Berth.ts"
import { BerthError } from "../../../src/client/BerthError.ts"
import type { Run } from "../../../src/schema/runs.ts"
import { run, screenInto } from "../../fixtures/programs/runView.ts"

const started: StartedRun<never> = { run, events: Stream.never, result: Effect.never }
const refused = new BerthError({ reason: "refused", status: 409, message: "The plan is outdated" })

/** Lines of a command that is interrupted two seconds after it began. */
const interruptedAfter = (start: Effect.Effect<StartedRun<never>, BerthError>) =>
  Effect.gen(function*() {
    const said: Array<string> = []
    const service = Layer.mock(Berth, {
      where: "https://berth.example.com",
      outlives: () => Effect.succeed(true),
      start: () => start
    })
    const following = yield* followRun(() => Effect.never).pipe(
      Effect.provideService(Screen, screenInto(said)),
      Effect.provide(service),
      Effect.fork
    )
    yield* TestClock.adjust("2 seconds")
    const interrupted = yield* Effect.fork(Fiber.interrupt(following))
    yield* TestClock.adjust("2 seconds")
    expect(Exit.isInterrupted(yield* Fiber.join(interrupted))).toBe(true)
    return said.join("\n")
  })

const slowly = Effect.sleep("3 seconds")

it.effect.each(
  [
    ["waits for another command", Effect.interruptible(Effect.never), "It was not started: nothing was changed."],
    ["is refused meanwhile", Effect.zipRight(slowly, refused), "The plan is outdated"],
    ["succeeds meanwhile", Effect.as(slowly, started), "The deploy of hello continues."],
    ["has succeeded", Effect.succeed(started), "The deploy of hello continues."]
  ] as const
)("an interrupted command whose start %s says what became of the run", ([, start, words]) =>
  Effect.gen(function*() {
    const said = yield* interruptedAfter(start)
    expect(said).toContain(words)
    expect(said.includes("not started")).toBe(words.includes("not started"))
    expect(said.includes(run.id)).toBe(words.endsWith("continues."))
  }))

it.effect("a run that did not succeed names the commands that mend it, however it ended", () =>
  Effect.gen(function*() {
    const ended: Run = { ...run, state: "failed", error: { status: 500, error: "web did not start" } }
    const events = Stream.make({ id: "1", event: "end" as const, data: ended })
    const following = <A>(result: Effect.Effect<A, BerthError>) =>
      followRun<A>(() => Effect.never).pipe(
        Effect.provideService(Screen, screenInto([])),
        Effect.provide(Layer.mock(Berth, {
          where: "https://berth.example.com",
          start: () => Effect.succeed(Object({ run, events, result })),
          use: () => refused
        }))
      )
    const failed = yield* Effect.flip(following(refused))
    expect(failed).toMatchObject({ _tag: "Failed", message: refused.message, answered: refused.message })
    expect("next" in failed && failed.next).toContainEqual(expect.stringMatching(/^ {2}Deploy again: berth deploy /))
    const { next } = yield* following(Effect.succeed({ value: 1, body: "1" }))
    expect(next).toContainEqual(expect.stringMatching(/^ {2}Show the log: berth logs /))
  }))
