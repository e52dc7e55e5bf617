import type { Redacted } from "effect"
import { withTexts } from "./scrubbedJson.ts"
import { scrubText } from "./scrubText.ts"

/** The user and the password of an address; a user alone may be a token, and `git` is the user of every SSH address. */
const userInfo = /(:\/\/)([^/\s@]{1,4096})@/g

const withoutUserInfo = (text: string): string =>
  text.replace(userInfo, (whole, slashes: string, user: string) => {
    const colon = user.indexOf(":")
    return user === "git" ? whole : `${slashes}${colon < 0 ? "" : user.slice(0, colon + 1)}***@`
  })

/**
 * Text of a foreign record as callers are shown it: without the secrets in use, and without the credentials of an
 * address, which the settings need not know.
 */
export const redactText = (text: string, secrets: ReadonlyArray<Redacted.Redacted>): string =>
  withoutUserInfo(scrubText(text, secrets))

/** A JSON value with every text in it as callers are shown it; keys stay as they are. */
export const redactJson = (value: unknown, secrets: ReadonlyArray<Redacted.Redacted>): unknown =>
  withTexts(value, (text) => redactText(text, secrets))
