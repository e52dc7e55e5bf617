import { Effect, Option, Redacted } from "effect"
import { createHmac, randomBytes } from "node:crypto"
import type { SettingsError } from "../schema/settings.ts"
import { Settings } from "./settings/Settings.ts"

/** Characters per digest. */
export const digestLength = 11

// Tokens are random: a password chosen by a user could be guessed from digests keyed with it.
const keySettings = ["platform.token", "http.token", "gitHost.token", "token"] as const
const ownKey = randomBytes(32)

/** Digests a text; `isShared` is false where the key is specific to this process. */
type KeyedDigest = ((text: string) => string) & { readonly isShared: boolean }

/**
 * Keyed digests that reveal only the equality of two values, even to a caller who can guess them. The key is derived
 * from the first token in the settings, so that every process with these settings makes the same digests, also after a
 * restart. Without a token the key is specific to this process.
 */
export const keyedDigest: Effect.Effect<KeyedDigest, SettingsError, Settings> = Effect.gen(function*() {
  const settings = yield* Settings
  const token = yield* Effect.reduce(
    keySettings,
    Option.none<Redacted.Redacted>(),
    (found, name) => Option.isSome(found) ? Effect.succeed(found) : settings.find(name)
  )
  const secret = Option.match(token, { onNone: () => ownKey, onSome: Redacted.value })
  const key = createHmac("sha256", secret).update("berth keyed digest").digest()
  const digest = (text: string) => createHmac("sha256", key).update(text).digest("base64url").slice(0, digestLength)
  return Object.assign(digest, { isShared: Option.isSome(token) })
})
