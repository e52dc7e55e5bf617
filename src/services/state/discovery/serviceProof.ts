import { Redacted } from "effect"
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"

/** Header with a challenge: the service shall prove that it knows its private token. */
export const challengeHeader = "berth-challenge"
/** Header of the answer, with the proof. */
export const proofHeader = "berth-proof"

const challengeForm = /^[\w-]{43}$/

/** Makes a random challenge. */
export const makeChallenge = (): string => randomBytes(32).toString("base64url")

/**
 * Proves knowledge of the token without revealing it: an HMAC of the challenge, useful for nothing else. Nothing where
 * the challenge is malformed.
 */
export const computeProof = (token: Redacted.Redacted, challenge: string): string | undefined =>
  challengeForm.test(challenge)
    ? createHmac("sha256", Redacted.value(token)).update(`berth.service\n${challenge}`).digest("base64url")
    : undefined

/** Tells whether a proof was made with the token for this challenge. */
export const isProof = (token: Redacted.Redacted, challenge: string, given: string): boolean => {
  const right = Buffer.from(computeProof(token, challenge) ?? "")
  const other = Buffer.from(given)
  return right.length > 0 && right.length === other.length && timingSafeEqual(right, other)
}
