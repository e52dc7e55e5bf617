import { Clock, Effect } from "effect"
import { randomBytes } from "node:crypto"

// Crockford's base 32: sorts by value, without letters that look like digits.
const digits = "0123456789abcdefghjkmnpqrstvwxyz"
const timeDigits = 10

const timeText = (millis: number): string =>
  Array.from({ length: timeDigits }, (_, index) => digits[Math.floor(millis / 32 ** (timeDigits - 1 - index)) % 32])
    .join("")

const randomText = (): string => Array.from(randomBytes(16), (byte) => digits[byte % 32]).join("")

/**
 * Makes ids of 26 characters: milliseconds since 1970, then random characters. They sort by time; those of one process
 * sort by creation even when its clock is set back.
 */
export const makeRunIds: Effect.Effect<Effect.Effect<string>> = Effect.sync(() => {
  let last = 0
  return Effect.map(Clock.currentTimeMillis, (now) => {
    last = Math.max(now, last + 1)
    return timeText(last) + randomText()
  })
})
