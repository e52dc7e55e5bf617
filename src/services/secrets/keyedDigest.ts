import { Effect, Redacted } from "effect"
import { createHmac } from "node:crypto"
import type { SettingsError } from "../../schema/Settings.ts"
import { Settings } from "../settings/Settings.ts"

/** How many characters each digest has. */
export const digestLength = 11

/**
 * Digests that tell whether two values are the same and nothing else about them, not even to who can guess them. Their
 * key is derived from `platform.token`: every process with these settings makes the same ones, after a restart too.
 */
export const keyedDigest: Effect.Effect<(text: string) => string, SettingsError, Settings> = Effect.gen(function*() {
  const token = yield* (yield* Settings).get("platform.token")
  const key = createHmac("sha256", Redacted.value(token)).update("berth keyed digest").digest()
  return (text) => createHmac("sha256", key).update(text).digest("base64url").slice(0, digestLength)
})
