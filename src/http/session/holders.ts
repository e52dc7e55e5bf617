import { Option, Redacted } from "effect"
import { type NamedToken, nameOfToken } from "../../schema/Settings.ts"
import { type KnownCaller, localCaller } from "../../services/access/Caller.ts"
import { digestOf, type SessionOwner } from "../../services/sessions/Sessions.ts"
import { sameSecret } from "./sameSecret.ts"

/** The tokens that let callers in. */
export interface Tokens {
  /** An operator's. One of the tokens is required from every caller when there is any. */
  readonly token: Option.Option<Redacted.Redacted>
  readonly tokens: ReadonlyArray<NamedToken>
  /** The service's own, which its user's programs on this machine have; it does instead of another. */
  readonly privateToken: Option.Option<Redacted.Redacted>
}

/** True if the settings have a token. */
export const wantsToken = ({ token, tokens }: Pick<Tokens, "token" | "tokens">): boolean =>
  Option.isSome(token) || tokens.length > 0

const holders = ({ privateToken, token, tokens }: Tokens): ReadonlyArray<NamedToken> => [
  ...Option.toArray(Option.map(privateToken, (token) => ({ ...localCaller(), token }))),
  ...Option.toArray(Option.map(token, (token): NamedToken => ({ name: nameOfToken, token, role: "operator" }))),
  ...tokens
]

const callerOf = ([holder]: ReadonlyArray<NamedToken>): Option.Option<KnownCaller> =>
  Option.map(Option.fromNullable(holder), ({ name, role }) => ({ name, role }))

/** Holder of a token. Compares with every token, so that timing does not reveal which one matches. */
export const holderOf = (given: string, tokens: Tokens): Option.Option<KnownCaller> =>
  callerOf(holders(tokens).filter(({ token }) => sameSecret(given, token)))

/** Holder of a session while its token is valid, with the current role of the token. */
export const ownerNow = ({ name, tokenDigest }: SessionOwner, tokens: Tokens): Option.Option<KnownCaller> =>
  callerOf(
    holders(tokens).filter((holder) => holder.name === name && digestOf(Redacted.value(holder.token)) === tokenDigest)
  )
