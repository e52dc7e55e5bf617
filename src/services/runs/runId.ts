import { Clock, Effect } from "effect"
import { randomBytes } from "node:crypto"

// Crockford's alphabet: its digits sort as they count, and no two look alike.
const digits = "0123456789abcdefghjkmnpqrstvwxyz"
const timeDigits = 10
const isRunIdText = new RegExp(`^[${digits}]{26}$`)

const timeText = (millis: number): string =>
  Array.from({ length: timeDigits }, (_, index) => digits[Math.floor(millis / 32 ** (timeDigits - 1 - index)) % 32])
    .join("")

const randomText = (): string => Array.from(randomBytes(16), (byte) => digits[byte % 32]).join("")

/** Whether a text has the form of a run's id. */
export const isRunId = (text: string): boolean => isRunIdText.test(text)

/**
 * Makes ids of 26 characters: milliseconds since 1970, then chance. They sort by their time, those of one maker in the
 * order of their making even when the clock is set back, and no two processes make the same one.
 */
export const makeRunIds: Effect.Effect<Effect.Effect<string>> = Effect.sync(() => {
  let last = 0
  return Effect.map(Clock.currentTimeMillis, (now) => {
    last = Math.max(now, last + 1)
    return timeText(last) + randomText()
  })
})
