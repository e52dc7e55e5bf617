import { Effect } from "effect"
import type { SettingsUnconfirmed } from "../schema/Settings.ts"
import { Failed } from "./Failure.ts"
import { safeText } from "./terminal/safeText.ts"
import { Screen } from "./terminal/Screen.ts"

/**
 * Asks whether settings count that were only found in the working directory, and notes a yes. Fails where the answer is
 * no, or nobody is there to give one.
 */
export const askToConfirm = (unconfirmed: SettingsUnconfirmed): Effect.Effect<void, Failed, Screen> =>
  Effect.gen(function*() {
    const { ask, canAsk, say } = yield* Screen
    const refusal = new Failed({ message: unconfirmed.message })
    if (!canAsk) return yield* refusal
    yield* say(unconfirmed.question.split("\n").map(safeText).join("\n"))
    if (!(yield* ask("Use it from now on, until it changes?"))) return yield* refusal
    const { confirmSettings } = yield* Effect.promise(() => import("../client/node/confirmSettings.ts"))
    yield* Effect.mapError(confirmSettings(unconfirmed), ({ message }) => new Failed({ message }))
  })
