import { Effect, Option, Schema } from "effect"
import { AppRequest } from "../../schema/Drift.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { upsertRun } from "../upsert/upsert.ts"

const appRequest = Schema.decodeUnknownOption(AppRequest)

/**
 * Goes on with the runs that an earlier process left unfinished: an upsert from the step that had not finished. What
 * cannot go on is recorded as interrupted.
 */
export const takeUpRuns = Effect.flatMap(Runs, (runs) =>
  runs.takeUp((left, goOn) =>
    Effect.gen(function*() {
      const { kind } = left.run
      const request = kind === "upsert" ? appRequest(left.request) : Option.none()
      if (Option.isNone(request)) return false
      const { program, spec } = yield* upsertRun(request.value)
      return yield* goOn(spec, program)
    })
  )).pipe(Effect.withSpan("takeUpRuns"))
