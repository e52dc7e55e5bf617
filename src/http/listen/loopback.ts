import { Effect, Option, Schema } from "effect"
import { Settings } from "../../services/settings/Settings.ts"

/**
 * Refuses to listen on other interfaces without a token, because anyone on the network could run commands on the
 * servers.
 */
export class TokenRequired extends Schema.TaggedError<TokenRequired>()("TokenRequired", {
  host: Schema.String,
  file: Schema.String
}) {
  override get message() {
    return `Refusing to listen on ${this.host}, beyond this machine, without a token: set http.token in ${this.file}, ` +
      "or listen on 127.0.0.1"
  }
}

/** True for loopback names and addresses, which other machines cannot reach. */
export const isLoopback = (host: string): boolean =>
  ["localhost", "::1", "[::1]"].includes(host.toLowerCase()) || /^(::ffff:)?127(\.\d{1,3}){3}$/i.test(host)

/** Fails if other machines could reach the service without a token. */
export const requireToken = Effect.fn("requireToken")(function*(
  host: string
): Effect.fn.Return<void, TokenRequired, Settings> {
  const settings = yield* Settings
  const { token, tokens } = yield* settings.guard
  if (!isLoopback(host) && Option.isNone(token) && tokens.length === 0) {
    return yield* new TokenRequired({ host, file: settings.file })
  }
})
