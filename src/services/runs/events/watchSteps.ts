import { Effect, Fiber, FiberId, Option, Ref, Schema, Stream } from "effect"
import { Run, type RunStep } from "../../../schema/runs/Run.ts"
import { RunRequest } from "../RunRequest.ts"
import { Runs } from "../Runs.ts"

const decodeRun = Schema.decode(Schema.parseJson(Run))

/** States of a run, from now to its end. */
const states = (id: string) =>
  Stream.unwrap(Effect.flatMap(Runs, (runs) => Effect.orDie(runs.events(id, Option.none())))).pipe(
    Stream.filter(({ event }) => event === "run" || event === "end"),
    Stream.mapEffect(({ data }) => Effect.orDie(decodeRun(data)))
  )

/** Executes a program that starts a run and waits for it, and passes each change of a step to `onStep`. */
export const watchSteps =
  (onStep: (step: RunStep) => Effect.Effect<void>) =>
  <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Runs> =>
    Effect.gen(function*() {
      const runs = yield* Runs
      const request = yield* RunRequest
      const watcher = yield* Ref.make(Option.none<Fiber.Fiber<void>>())
      const watch = (id: string) =>
        Effect.gen(function*() {
          const seen = new Map<string, string>()
          yield* Stream.runForEach(states(id), ({ steps }) =>
            Effect.forEach(steps, (step) => {
              const state = `${step.status} ${step.detail}`
              if (seen.get(step.step) === state) return Effect.void
              seen.set(step.step, state)
              return onStep(step)
            }, { discard: true }))
        }).pipe(Effect.provideService(Runs, runs))
      const started = (run: Run) =>
        Effect.zipRight(
          request.started(run),
          Effect.flatMap(Effect.forkDaemon(watch(run.id)), (fiber) => Ref.set(watcher, Option.some(fiber)))
        )
      const end = Effect.flatMap(
        Ref.get(watcher),
        Option.match({ onNone: () => Effect.void, onSome: (fiber) => Fiber.interruptAs(fiber, FiberId.none) })
      )
      const last = Effect.flatMap(
        Ref.get(watcher),
        Option.match({ onNone: () => Effect.void, onSome: (fiber) => Effect.asVoid(Fiber.await(fiber)) })
      )
      return yield* program.pipe(
        Effect.provideService(RunRequest, { ...request, started }),
        Effect.tapBoth({ onSuccess: () => last, onFailure: () => last }),
        Effect.ensuring(end)
      )
    })
