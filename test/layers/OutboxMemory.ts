import { Clock, Duration, Effect, Option } from "effect"
import type { ClaimedNotice, Notice, Outbox } from "../../src/services/runs/store.ts"

interface Kept extends Notice {
  readonly createdAt: number
  readonly dueAt: number
  readonly attempts: number
}

/** Makes an outbox in memory by the clock of the test, and a way to look into it. */
export const makeOutboxMemory = Effect.sync(() => {
  const kept = new Map<string, Kept>()
  const drifting = new Set<string>()
  const at = <A>(use: (now: number) => A) => Effect.map(Clock.currentTimeMillis, use)
  const add = (notices: ReadonlyArray<Notice>) =>
    at((now) => {
      for (const notice of notices) {
        kept.set(notice.message.id, { ...notice, createdAt: now, dueAt: now, attempts: 0 })
      }
    })
  const outbox: Outbox["Type"] = {
    claim: (most, lease) =>
      at((now) =>
        [...kept].filter(([, { dueAt }]) => dueAt <= now).slice(0, most).map(([id, one]): ClaimedNotice => {
          const claimed = { ...one, attempts: one.attempts + 1, dueAt: now + Duration.toMillis(lease) }
          kept.set(id, claimed)
          return { ...claimed, id, age: Duration.millis(now - one.createdAt) }
        })
      ),
    remove: (id) => Effect.sync(() => void kept.delete(id)),
    postpone: ({ attempts, id }, pause) =>
      at((now) => {
        const one = kept.get(id)
        if (one?.attempts === attempts) kept.set(id, { ...one, dueAt: now + Duration.toMillis(pause) })
      }),
    nextDue: at((now) => {
      const dues = [...kept.values()].map(({ dueAt }) => dueAt)
      return dues.length === 0 ? Option.none() : Option.some(Duration.millis(Math.max(0, Math.min(...dues) - now)))
    }),
    addOnce: (subject, holds, notices) => {
      if (!holds) return Effect.sync(() => void drifting.delete(subject)).pipe(Effect.as(false))
      if (drifting.has(subject)) return Effect.succeed(false)
      drifting.add(subject)
      return Effect.as(add(notices), notices.length > 0)
    }
  }
  return { outbox, add, kept }
})
