import { Effect } from "effect"
import type { Capacity } from "../../schema/basics/capacity.ts"

/** The capacity is used up: by one caller, or by all without a `caller`. */
export interface Exhausted {
  readonly most: number
  readonly caller?: string
}

export interface Quota {
  /** Takes one for a caller, and returns its release, which is idempotent. */
  readonly take: (caller: string) => Effect.Effect<Effect.Effect<void>, Exhausted>
  /** Number taken now. */
  readonly taken: () => number
}

/** Limits concurrent use, in total and for each caller, so that one caller cannot use up the total. */
export const makeQuota = ({ all, each }: Capacity): Quota => {
  const owned = new Map<string, number>()
  let total = 0
  const change = (caller: string, by: 1 | -1) => {
    const now = (owned.get(caller) ?? 0) + by
    if (now === 0) owned.delete(caller)
    else owned.set(caller, now)
    total += by
  }
  return {
    taken: () => total,
    take: (caller) =>
      Effect.suspend(() => {
        if ((owned.get(caller) ?? 0) >= each) return Effect.fail({ most: each, caller })
        if (total >= all) return Effect.fail({ most: all })
        change(caller, 1)
        let isTaken = true
        return Effect.succeed(Effect.sync(() => {
          if (isTaken) change(caller, -1)
          isTaken = false
        }))
      })
  }
}
