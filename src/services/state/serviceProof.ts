import { Redacted } from "effect"
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"

/** Header in which a program of the same user asks a service to prove that it holds its private token. */
export const challengeHeader = "berth-challenge"
/** Header of the answer, with the proof. */
export const proofHeader = "berth-proof"

const challengeForm = /^[\w-]{43}$/

/** A text that no service has proved anything with yet. */
export const makeChallenge = (): string => randomBytes(32).toString("base64url")

/**
 * Proves that whoever answers holds the token, without showing it. Anybody may ask for it: it is of no use for anything
 * else. Nothing where the challenge is not one.
 */
export const proofFor = (token: Redacted.Redacted, challenge: string): string | undefined =>
  challengeForm.test(challenge)
    ? createHmac("sha256", Redacted.value(token)).update(`berth.service\n${challenge}`).digest("base64url")
    : undefined

/** Tells whether a proof was made with the token for this challenge. */
export const isProof = (token: Redacted.Redacted, challenge: string, given: string): boolean => {
  const right = Buffer.from(proofFor(token, challenge) ?? "")
  const other = Buffer.from(given)
  return right.length > 0 && right.length === other.length && timingSafeEqual(right, other)
}
