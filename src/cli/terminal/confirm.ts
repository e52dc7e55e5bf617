import { Effect } from "effect"
import { Usage } from "./commandErrors.ts"
import { Screen } from "./Screen.ts"

/** Asks for confirmation unless `--yes` is given; fails without a terminal. */
export const confirm = (question: string, yes: boolean): Effect.Effect<boolean, Usage, Screen> =>
  Effect.gen(function*() {
    if (yes) return true
    const { ask, canAsk, say } = yield* Screen
    if (!canAsk) return yield* new Usage({ message: `There is no terminal to ask on: "${question}" Add --yes` })
    const answer = yield* Effect.onInterrupt(ask(question), () => say("Nothing was changed."))
    if (!answer) yield* say("Nothing was changed.")
    return answer
  })
