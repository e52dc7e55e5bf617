import type { Redacted } from "effect"
import { withTexts } from "./scrubbedJson.ts"
import { scrubText } from "./scrubText.ts"

/** User and password of an address. A user alone may be a token, except `git`, the user of every SSH address. */
const userInfo = /(:\/\/)([^/\s@]{1,4096})@/g

const withoutUserInfo = (text: string): string =>
  text.replace(userInfo, (whole, slashes: string, user: string) => {
    const colon = user.indexOf(":")
    return user === "git" ? whole : `${slashes}${colon < 0 ? "" : user.slice(0, colon + 1)}***@`
  })

/**
 * Text of a foreign record for callers: without the secrets in use, and without credentials in addresses, which may be
 * missing from the settings.
 */
export const redactText = (text: string, secrets: ReadonlyArray<Redacted.Redacted>): string =>
  withoutUserInfo(scrubText(text, secrets))

/** Applies `shownText` to every string in a JSON value; keys are unchanged. */
export const redactJson = (value: unknown, secrets: ReadonlyArray<Redacted.Redacted>): unknown =>
  withTexts(value, (text) => redactText(text, secrets))
