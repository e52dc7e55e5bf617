import { Context, Layer, Option, Redacted } from "effect"
import { randomBytes } from "node:crypto"

/**
 * A secret that this process made for itself. Who can read what it leaves beside the settings file is the person that
 * it works for, and is let in with it; nobody where there is none.
 */
export class PrivateToken extends Context.Reference<PrivateToken>()("berth/PrivateToken", {
  defaultValue: () => Option.none<Redacted.Redacted>()
}) {}

/** A new one for every start of the service. */
export const PrivateTokenLive: Layer.Layer<PrivateToken> = Layer.sync(
  PrivateToken,
  () => Option.some(Redacted.make(randomBytes(32).toString("base64url")))
)
