import { Redacted } from "effect"
import { createHash, timingSafeEqual } from "node:crypto"

const digest = (text: string) => createHash("sha256").update(text).digest()

/**
 * Compares with a secret in constant time. Comparing digests of equal length hides both a matching prefix and the
 * secret's length.
 */
export const isSameSecret = (given: string, secret: Redacted.Redacted): boolean =>
  timingSafeEqual(digest(given), digest(Redacted.value(secret)))
