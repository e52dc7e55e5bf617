import { Effect, Option } from "effect"
import type { NotifiedDrift } from "../../schema/notify/Notify.ts"
import { Notifier } from "./Notifier.ts"

/** Reports how far an application has drifted, where there is a service that tells of it. */
export const reportDrift = (judged: NotifiedDrift): Effect.Effect<void> =>
  Effect.flatMap(
    Effect.serviceOption(Notifier),
    Option.match({ onNone: () => Effect.void, onSome: ({ driftJudged }) => driftJudged(judged) })
  )
