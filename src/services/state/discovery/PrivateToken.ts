import { Context, Layer, Option, Redacted } from "effect"
import { randomBytes } from "node:crypto"

/**
 * Secret of this process, stored in a private file beside the settings. A client that can read it belongs to the same
 * user, and is authorized; without a token no client is.
 */
export class PrivateToken extends Context.Reference<PrivateToken>()("berth/PrivateToken", {
  defaultValue: () => Option.none<Redacted.Redacted>()
}) {}

/** Makes a new token for every start of the service. */
export const PrivateTokenLive: Layer.Layer<PrivateToken> = Layer.sync(
  PrivateToken,
  () => Option.some(Redacted.make(randomBytes(32).toString("base64url")))
)
