import { Effect, Option } from "effect"
import { differencesIn, type Drift } from "../../schema/applications/Drift.ts"
import type { NotifiedDrift } from "../../schema/notify/Notify.ts"
import { Notifier } from "./Notifier.ts"

type Found = Parameters<typeof differencesIn>[0] & Pick<Drift, "unknown">

/** Fields that are unknown only while a server or the platform does not respond. */
const passing: ReadonlyArray<string> = ["route", "server"]

/**
 * Reports the drift of an application, if there is a notifier. An application without known differences is skipped
 * while its route or server cannot be read: an earlier drift may persist.
 */
export const reportDrift = (judged: Omit<NotifiedDrift, "differences">, found: Found): Effect.Effect<void> =>
  Effect.flatMap(
    Effect.serviceOption(Notifier),
    Option.match({
      onNone: () => Effect.void,
      onSome: ({ driftJudged }) => {
        const differences = differencesIn(found)
        const isUnread = (found.unknown ?? []).some(({ field }) => passing.includes(field))
        return differences === 0 && isUnread ? Effect.void : driftJudged({ ...judged, differences })
      }
    })
  )
