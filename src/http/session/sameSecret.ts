import { Redacted } from "effect"
import { createHash, timingSafeEqual } from "node:crypto"

const digest = (text: string) => createHash("sha256").update(text).digest()

/**
 * Whether a text is the secret. The time it takes tells neither how much of a wrong text is right, nor how long the
 * secret is: what is compared are digests, all of one length.
 */
export const sameSecret = (given: string, secret: Redacted.Redacted): boolean =>
  timingSafeEqual(digest(given), digest(Redacted.value(secret)))
