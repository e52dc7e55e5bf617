import { Effect } from "effect"
import type { OutputStream } from "../../schema/Run.ts"
import { withoutSecrets } from "../secrets/secretsInUse.ts"
import { Settings } from "../settings/Settings.ts"
import { Steps } from "./Steps.ts"

// A line that never ends is told in pieces.
const longestLine = 64 * 1024

/** Takes what a program writes, in whatever pieces it comes. */
export interface OutputTeller {
  readonly tell: (text: string) => Effect.Effect<void>
  /** Tells what is left of a last line. */
  readonly end: Effect.Effect<void>
}

/** Tells what a program of the run writes: whole lines, so that no secret in use can hide between two pieces. */
export const tellOutput = (stream: OutputStream): Effect.Effect<OutputTeller, never, Steps | Settings> =>
  Effect.gen(function*() {
    const steps = yield* Steps
    const settings = yield* Settings
    let rest = ""
    const told = (text: string) =>
      text === ""
        ? Effect.void
        : Effect.flatMap(
          Effect.provideService(withoutSecrets(text), Settings, settings),
          (shown) => steps.output(stream, shown)
        )
    return {
      tell: (text) =>
        Effect.suspend(() => {
          const all = rest + text
          const end = all.length > longestLine ? all.length : all.lastIndexOf("\n") + 1
          rest = all.slice(end)
          return told(all.slice(0, end))
        }),
      end: Effect.suspend(() => {
        const last = rest
        rest = ""
        return told(last)
      })
    }
  })
