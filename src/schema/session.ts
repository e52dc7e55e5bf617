import { Schema } from "effect"
import { Role } from "./settings.ts"
import { field, strictBody, text, textOrNull } from "./validation.ts"

const Token = Schema.Redacted(Schema.String.pipe(
  Schema.maxLength(4_096, { message: () => "must not be longer than 4096 characters" }),
  Schema.minLength(1, { message: () => "must not be empty" })
))

/** Body of a log-in. */
export const SessionRequest = Schema.Struct({
  token: field(Token, "A token of the service's settings.")
}).annotations({ identifier: "SessionRequest", ...strictBody })
export interface SessionRequest extends Schema.Schema.Type<typeof SessionRequest> {}

/** Identity and role of the caller. */
export const Session = Schema.Struct({
  name: text("The name of the token, or user@machine where none is needed.", "Ann"),
  role: field(Role, "Role of the caller: a viewer reads, an operator changes too."),
  expiresAt: textOrNull(
    "When the session ends unless it is used again, in UTC; null without a session.",
    "2026-01-02T15:04:05.678Z"
  )
}).annotations({ identifier: "Session" })
export interface Session extends Schema.Schema.Type<typeof Session> {}

/** Refusal of a caller without a token. */
export const tokenRequired =
  "A bearer token is required: send Authorization: Bearer <http.token of the settings, or one of " +
  "http.tokens>, or log in on the web page"

/** Refusal of a caller whose token is not in the settings. */
export const tokenUnknown =
  "The bearer token is not one that this service knows: send http.token of the settings, or one of http.tokens, or log " +
  "in on the web page"

/** The version of the API and of the package. */
export const version = "3.0.0"
