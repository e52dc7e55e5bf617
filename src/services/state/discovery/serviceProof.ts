import { Redacted } from "effect"
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"

/** Header with a challenge, by which a client requests proof that the service has its private token. */
export const challengeHeader = "berth-challenge"
/** Response header with the proof. */
export const proofHeader = "berth-proof"

const challengeForm = /^[\w-]{43}$/

/** Makes a random challenge. */
export const makeChallenge = (): string => randomBytes(32).toString("base64url")

/**
 * Proves knowledge of the token without revealing it: an HMAC of the challenge, useful for nothing else. Undefined if
 * the challenge is malformed.
 */
export const computeProof = (token: Redacted.Redacted, challenge: string): string | undefined =>
  challengeForm.test(challenge)
    ? createHmac("sha256", Redacted.value(token)).update(`berth.service\n${challenge}`).digest("base64url")
    : undefined

/** Reports whether a proof was made with the token for this challenge. */
export const isProof = (token: Redacted.Redacted, challenge: string, given: string): boolean => {
  const right = Buffer.from(computeProof(token, challenge) ?? "")
  const other = Buffer.from(given)
  return right.length > 0 && right.length === other.length && timingSafeEqual(right, other)
}
