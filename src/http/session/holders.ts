import { Option, Redacted } from "effect"
import { type NamedToken, nameOfToken } from "../../schema/Settings.ts"
import { type KnownCaller, makeLocalCaller } from "../../services/access/Caller.ts"
import { digestSecret, type SessionOwner } from "../../services/sessions/Sessions.ts"
import { isSameSecret } from "./isSameSecret.ts"

/** Tokens that authenticate callers. */
export interface AccessTokens {
  /** Operator's token. Once any token is set, every caller needs one. */
  readonly token: Option.Option<Redacted.Redacted>
  readonly tokens: ReadonlyArray<NamedToken>
  /** Private token of the service, for programs of the same user on this machine; accepted in place of any other. */
  readonly privateToken: Option.Option<Redacted.Redacted>
}

/** True if the settings have a token. */
export const requiresToken = ({ token, tokens }: Pick<AccessTokens, "token" | "tokens">): boolean =>
  Option.isSome(token) || tokens.length > 0

const holders = ({ privateToken, token, tokens }: AccessTokens): ReadonlyArray<NamedToken> => [
  ...Option.toArray(Option.map(privateToken, (token) => ({ ...makeLocalCaller(), token }))),
  ...Option.toArray(Option.map(token, (token): NamedToken => ({ name: nameOfToken, token, role: "operator" }))),
  ...tokens
]

const callerOf = ([holder]: ReadonlyArray<NamedToken>): Option.Option<KnownCaller> =>
  Option.map(Option.fromNullable(holder), ({ name, role }) => ({ name, role }))

/** Holder of a token. Compares with every token, so that timing does not reveal which one matches. */
export const findTokenHolder = (given: string, tokens: AccessTokens): Option.Option<KnownCaller> =>
  callerOf(holders(tokens).filter(({ token }) => isSameSecret(given, token)))

/** Holder of a session while its token is valid, with the current role of the token. */
export const findSessionOwner = (
  { name, tokenDigest }: SessionOwner,
  tokens: AccessTokens
): Option.Option<KnownCaller> =>
  callerOf(
    holders(tokens).filter((holder) =>
      holder.name === name && digestSecret(Redacted.value(holder.token)) === tokenDigest
    )
  )
