import { Redacted } from "effect"
import { createHmac } from "node:crypto"

/**
 * Value of `Berth-Signature`: the time in seconds and the HMAC-SHA256 of `time.body` in hexadecimal, with the secret of
 * the target as the key.
 */
export const signature = (secret: Redacted.Redacted, seconds: number, body: string): string =>
  `t=${seconds},v1=${createHmac("sha256", Redacted.value(secret)).update(`${seconds}.${body}`).digest("hex")}`
