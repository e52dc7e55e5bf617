import { Effect } from "effect"
import type { SettingsUnconfirmed } from "../../schema/Settings.ts"
import { Failed } from "../terminal/commandErrors.ts"
import { escapeInline } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"

/**
 * Asks to confirm settings that were found in the working directory, and stores a "yes". Fails at a "no" or without a
 * terminal.
 */
export const askToConfirm = (unconfirmed: SettingsUnconfirmed): Effect.Effect<void, Failed, Screen> =>
  Effect.gen(function*() {
    const { ask, canAsk, say } = yield* Screen
    const refusal = new Failed({ message: unconfirmed.message })
    if (!canAsk) return yield* refusal
    yield* say(unconfirmed.question.split("\n").map(escapeInline).join("\n"))
    if (!(yield* ask("Use it from now on, until it changes?"))) return yield* refusal
    const { confirmSettings } = yield* Effect.promise(() => import("../../client/node/confirmSettings.ts"))
    yield* Effect.mapError(confirmSettings(unconfirmed), ({ message }) => new Failed({ message }))
  })
