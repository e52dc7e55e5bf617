import { Schema } from "effect"
import { nameOfToken, Role, TokenName } from "./settings.ts"
import { field, strictBody, text, textOrNull } from "./validation.ts"
import { cut, quoteInput } from "./words.ts"

/** Sentence about the first token, told before and after it is stored. */
export const firstTokenConsequence =
  "It is the first token: from now on pages, scripts and agents that call the service need one. Commands of this " +
  "user on this machine go on without, and berth open logs this user's browser in"

/** State of a running service whose settings have lost their last token. */
export const afterLastToken =
  "Until they name one again or Berth is restarted, only commands of this user on this machine, and pages that berth " +
  "open has logged in, are let in"

/** Sentence about the last token, told before and after it is removed. */
export const lastTokenConsequence =
  `It is the last token of the settings. ${afterLastToken}. After a restart every caller on this machine is let in ` +
  "without one, and Berth does not start where it listens for other machines"

/** A token of the settings, without its value. */
export const AccessToken = Schema.Struct({
  name: text("Its name; the runs that it starts carry it.", "Ann"),
  role: field(
    Schema.NullOr(Role),
    "viewer reads, operator changes too; null where a reference in its place cannot be resolved."
  ),
  setting: text("Its place in the settings file.", "http.tokens[0]"),
  problem: textOrNull("Reason why nobody is let in with it; else null.")
}).annotations({ identifier: "AccessToken" })
export interface AccessToken extends Schema.Schema.Type<typeof AccessToken> {}

/** The tokens that let callers in. */
export const TokenList = Schema.Struct({
  file: text("The settings file.", "/home/ann/.config/berth/berth.yaml"),
  tokens: Schema.Array(AccessToken).annotations({
    description: `http.token, under the name ${nameOfToken}, and the entries of http.tokens.`
  }),
  refusal: textOrNull("Reason why this caller may not change them; null where it may."),
  onAdd: textOrNull("Changes for callers with the first token; null where there is one."),
  onRemove: textOrNull("Changes for callers without the last token; null unless exactly one is left.")
}).annotations({ identifier: "TokenList" })
export interface TokenList extends Schema.Schema.Type<typeof TokenList> {}

/** Body of a new token. */
export const TokenRequest = Schema.Struct({
  // It is a segment of the address of its removal.
  name: field(
    TokenName.pipe(
      Schema.maxLength(100, { message: () => "must be a name of up to 100 characters on one line" }),
      Schema.filter((text) => text !== "." && text !== ".." || "must not be . or ..")
    ),
    "Its name, unique among the tokens."
  ),
  role: field(Role, "viewer reads, operator changes too.")
}).annotations({ identifier: "TokenRequest", ...strictBody })
export interface TokenRequest extends Schema.Schema.Type<typeof TokenRequest> {}

/** A stored token. This answer alone has its value. */
export const TokenAdded = Schema.Struct({
  file: text("The settings file.", "/home/ann/.config/berth/berth.yaml"),
  name: text("Its name.", "Ann"),
  role: field(Role, "viewer reads, operator changes too."),
  token: field(Schema.Redacted(Schema.String), "The token, which no other answer has."),
  consequence: textOrNull("Changes for callers, where it is the first token; else null.")
}).annotations({ identifier: "TokenAdded" })
export interface TokenAdded extends Schema.Schema.Type<typeof TokenAdded> {}

/** A removed token. */
export const TokenRemoved = Schema.Struct({
  file: text("The settings file.", "/home/ann/.config/berth/berth.yaml"),
  name: text("Its name.", "Ann"),
  consequence: textOrNull("Changes for callers, where it was the last token; else null.")
}).annotations({ identifier: "TokenRemoved" })
export interface TokenRemoved extends Schema.Schema.Type<typeof TokenRemoved> {}

/** A one-time log-in for the browser of the service's own user. */
export const SessionTicket = Schema.Struct({
  ticket: field(
    Schema.NullOr(Schema.Redacted(Schema.String)),
    "Opens one session within a minute, in place of a token; null where no token is needed."
  )
}).annotations({ identifier: "SessionTicket" })
export interface SessionTicket extends Schema.Schema.Type<typeof SessionTicket> {}

/** Another token has this name. Nothing was changed. */
export class TokenTaken extends Schema.TaggedError<TokenTaken>()("TokenTaken", { name: Schema.String }) {
  readonly status = 409
  override get message() {
    return `There is a token ${quoteInput(cut(this.name))} already: take another name, or remove it first with ` +
      "berth token remove. Nothing was changed"
  }
}

/** No token of `http.tokens` has this name. */
export class TokenNotFound extends Schema.TaggedError<TokenNotFound>()("TokenNotFound", {
  name: Schema.String,
  names: Schema.Array(Schema.String)
}) {
  readonly status = 404
  override get message() {
    if (this.name === nameOfToken) {
      return "The token without a name is the setting http.token: remove it with berth settings set http.token --unset"
    }
    const known = this.names.length === 0
      ? "there is none"
      : `there are ${this.names.map(cut).map(quoteInput).join(", ")}`
    return `http.tokens names no token ${quoteInput(cut(this.name))}: ${known}`
  }
}

/** Only the user of the service's machine may change tokens, or have a ticket. */
export class TokenForbidden extends Schema.TaggedError<TokenForbidden>()("TokenForbidden", {}) {
  readonly status = 403
  override get message() {
    return `${tokensRefusal}. Nothing was changed`
  }
}

/** Refusal of a caller with a token to change tokens. */
export const tokensRefusal =
  "Tokens decide what callers may do on this machine, so only the user of the service's machine changes them: run " +
  "berth token there"
