import { Redacted } from "effect"
import { createHash, timingSafeEqual } from "node:crypto"

const digest = (text: string) => createHash("sha256").update(text).digest()

/**
 * Compares with a secret in constant time: timing reveals neither a matching prefix nor the length of the
 * secret, because digests of equal length are compared.
 */
export const isSameSecret = (given: string, secret: Redacted.Redacted): boolean =>
  timingSafeEqual(digest(given), digest(Redacted.value(secret)))
