import { Effect } from "effect"
import type { OutputStream } from "../../schema/Run.ts"
import { withoutSecrets } from "../secrets/secretsInUse.ts"
import { Settings } from "../settings/Settings.ts"
import { Steps } from "./Steps.ts"

// Of a line that is longer, the end is told: it tells most.
const longestLine = 64 * 1024

/** Takes what a program writes, in whatever pieces it comes. */
export interface OutputTeller {
  /** @param dropped how many lines came before this text that nobody read */
  readonly tell: (text: string, dropped?: number) => Effect.Effect<void>
  /** Tells what is left of a last line. */
  readonly end: Effect.Effect<void>
}

/** Tells what a program of the run writes: whole lines, so that no secret in use can hide between two pieces. */
export const tellOutput = (stream: OutputStream): Effect.Effect<OutputTeller, never, Steps | Settings> =>
  Effect.gen(function*() {
    const steps = yield* Steps
    const settings = yield* Settings
    let rest = ""
    let isCut = false
    const told = (text: string, dropped: number) =>
      Effect.suspend(() => {
        if (text === "" && dropped === 0) return Effect.void
        const cut = isCut
        isCut = false
        return Effect.flatMap(
          Effect.provideService(withoutSecrets(text, { cut }), Settings, settings),
          (shown) => steps.output(stream, cut && shown !== "" ? `…${shown}` : shown, dropped)
        )
      })
    return {
      tell: (text, dropped = 0) =>
        Effect.suspend(() => {
          // Of a line whose end was dropped nothing is told: it may end in the half of a secret.
          const isBroken = dropped > 0 && rest !== ""
          const all = isBroken ? text : rest + text
          const end = all.lastIndexOf("\n") + 1
          rest = all.slice(end)
          const lines = told(all.slice(0, end), dropped + (isBroken ? 1 : 0))
          if (rest.length <= longestLine) return lines
          rest = rest.slice(-longestLine)
          return Effect.zipRight(
            lines,
            Effect.sync(() => {
              isCut = true
            })
          )
        }),
      end: Effect.suspend(() => {
        const last = rest
        rest = ""
        return told(last, 0)
      })
    }
  })
