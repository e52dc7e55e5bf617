import { Predicate, Redacted } from "effect"
import { isCredentialName } from "../secrets/credentialName.ts"

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Password of each address in a text, or its user if it has no password, as written and decoded. */
const inAddresses = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/:\/\/([^/\s@]{1,4096})@/g)].flatMap(([, user = ""]) => {
    const colon = user.indexOf(":")
    // A user alone may be a token; with a password it is only a name.
    const secret = user.slice(colon + 1)
    return secret === "" || secret === "git" ? [] : [secret, decoded(secret)]
  })

const textsIn = (value: unknown, isSecret: boolean): ReadonlyArray<string> => {
  if (Predicate.isString(value)) return isSecret ? [value] : inAddresses(value)
  if (Array.isArray(value)) return value.flatMap((item) => textsIn(item, isSecret))
  return Predicate.isRecord(value)
    ? Object.entries(value).flatMap(([name, item]) => textsIn(item, isSecret || isCredentialName(name)))
    : []
}

/**
 * Credentials in the body of a call, recognized by the name of their field or by their position in an address. An
 * upstream that refuses the call may repeat them.
 */
export const collectCarriedSecrets = (body: unknown): ReadonlyArray<Redacted.Redacted> =>
  [...new Set(textsIn(body, false))].map((secret) => Redacted.make(secret))
