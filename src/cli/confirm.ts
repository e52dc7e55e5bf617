import { Effect } from "effect"
import { Usage } from "./Failure.ts"
import { Screen } from "./terminal/Screen.ts"

/** Asks whether to go on, unless `--yes` says so; where nobody can answer, nothing is asked and nothing is done. */
export const confirmed = (question: string, yes: boolean): Effect.Effect<boolean, Usage, Screen> =>
  Effect.gen(function*() {
    if (yes) return true
    const { ask, canAsk, say } = yield* Screen
    if (!canAsk) return yield* new Usage({ message: `There is no terminal to ask on: "${question}" Add --yes` })
    const answer = yield* Effect.onInterrupt(ask(question), () => say("Nothing was changed."))
    if (!answer) yield* say("Nothing was changed.")
    return answer
  })
