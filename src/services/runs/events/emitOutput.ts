import { Effect } from "effect"
import type { OutputStream } from "../../../schema/runs/Run.ts"
import { scrubSecrets } from "../../secrets/secretsInUse.ts"
import { Settings } from "../../settings/Settings.ts"
import { Steps } from "../Steps.ts"

// Longer lines are cut at the front: the end is the most informative part.
const longestLine = 64 * 1024

/** Receives output of a program in pieces of any size. */
export interface OutputEmitter {
  /** @param dropped number of lines before this text that were dropped */
  readonly emit: (text: string, dropped?: number) => Effect.Effect<void>
  /** Emits a last line without a line break. */
  readonly end: Effect.Effect<void>
}

/** Publishes a program's output in whole lines, so that no secret is split between two pieces. */
export const emitOutput = (stream: OutputStream): Effect.Effect<OutputEmitter, never, Steps | Settings> =>
  Effect.gen(function*() {
    const steps = yield* Steps
    const settings = yield* Settings
    let rest = ""
    let isCut = false
    const emitLines = (text: string, dropped: number) =>
      Effect.suspend(() => {
        if (text === "" && dropped === 0) return Effect.void
        const cut = isCut
        isCut = false
        return Effect.flatMap(
          Effect.provideService(scrubSecrets(text, { cut }), Settings, settings),
          (safe) => steps.output(stream, cut && safe !== "" ? `…${safe}` : safe, dropped)
        )
      })
    return {
      emit: (text, dropped = 0) =>
        Effect.suspend(() => {
          // A line whose end was dropped is not emitted: it may end within a secret.
          const isBroken = dropped > 0 && rest !== ""
          const all = isBroken ? text : rest + text
          const end = all.lastIndexOf("\n") + 1
          rest = all.slice(end)
          const lines = emitLines(all.slice(0, end), dropped + (isBroken ? 1 : 0))
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
        return emitLines(last, 0)
      })
    }
  })
