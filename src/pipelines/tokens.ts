import { Effect } from "effect"
import type { SettingsError } from "../schema/settings.ts"
import {
  firstTokenConsequence,
  lastTokenConsequence,
  type TokenAdded,
  TokenForbidden,
  type TokenList,
  type TokenNotFound,
  type TokenRemoved,
  type TokenRequest,
  tokensRefusal,
  type TokenTaken
} from "../schema/tokens.ts"
import { CurrentCaller } from "../services/access/Caller.ts"
import { mayChange } from "../services/access/rights.ts"
import { Settings } from "../services/settings/Settings.ts"

/** A token must not widen its own rights, nor outlive its removal under another name. */
const requireOwnUser = Effect.flatMap(
  CurrentCaller,
  ({ isLocal, role }) => isLocal === true && mayChange(role) ? Effect.void : new TokenForbidden()
)

/** Lists the tokens of the settings without their values. */
export const listTokens: Effect.Effect<TokenList, SettingsError, Settings> = Effect.gen(function*() {
  const { file, tokens } = yield* Settings
  const all = yield* tokens
  const refusal = yield* Effect.match(requireOwnUser, { onFailure: () => tokensRefusal, onSuccess: () => null })
  return {
    file,
    tokens: all,
    refusal,
    onAdd: all.length === 0 ? firstTokenConsequence : null,
    onRemove: all.length === 1 ? lastTokenConsequence : null
  }
}).pipe(Effect.withSpan("listTokens"))

/** Stores a new token; its value is in this answer alone. */
export const addToken = Effect.fn("addToken")(function*(
  { name, role }: TokenRequest
): Effect.fn.Return<TokenAdded, TokenForbidden | TokenTaken | SettingsError, Settings> {
  yield* requireOwnUser
  const { addToken: store, file } = yield* Settings
  const { isFirst, token } = yield* store(name, role)
  return { file, name, role, token, consequence: isFirst ? firstTokenConsequence : null }
})

/** Removes a token. Its sessions end with it. */
export const removeToken = Effect.fn("removeToken")(function*(
  name: string
): Effect.fn.Return<TokenRemoved, TokenForbidden | TokenNotFound | SettingsError, Settings> {
  yield* requireOwnUser
  const { file, removeToken: remove } = yield* Settings
  const wasLast = yield* remove(name)
  return { file, name, consequence: wasLast ? lastTokenConsequence : null }
})
