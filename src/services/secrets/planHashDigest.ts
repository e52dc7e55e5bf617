import { Effect, Option, Redacted } from "effect"
import { createHmac, randomBytes } from "node:crypto"
import type { SettingsError } from "../../schema/Settings.ts"
import { Settings } from "../settings/Settings.ts"

/** Characters per digest. */
export const digestLength = 11

// Tokens are random: a password chosen by a user could be guessed from digests keyed with it.
const keySettings = ["platform.token", "http.token", "gitHost.token", "token"] as const
const ownKey = randomBytes(32)

/**
 * Keyed digests that reveal only the equality of two values, even to a caller who can guess them. The key is derived
 * from the first token in the settings, so that every process with these settings makes the same digests, also after a
 * restart. Without a token the key is specific to this process.
 */
export const planHashDigest: Effect.Effect<(text: string) => string, SettingsError, Settings> = Effect.gen(function*() {
  const settings = yield* Settings
  const token = yield* Effect.reduce(
    keySettings,
    Option.none<Redacted.Redacted>(),
    (found, name) => Option.isSome(found) ? Effect.succeed(found) : settings.find(name)
  )
  const secret = Option.match(token, { onNone: () => ownKey, onSome: Redacted.value })
  const key = createHmac("sha256", secret).update("berth keyed digest").digest()
  return (text) => createHmac("sha256", key).update(text).digest("base64url").slice(0, digestLength)
})
