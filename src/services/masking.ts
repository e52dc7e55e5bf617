import { Encoding, Predicate, Redacted } from "effect"
import type { ServerAccess } from "../schema/ssh.ts"
import { mask } from "../schema/words.ts"

const unmistakable =
  /secret|passw(?:or)?d|passphrase|token|credential|authori[sz]ation|api_?key|private_?key|cookie|basic_?auth/i
const asWord = /(?:^|_)(?:auth|key|keys|private|pwd|signature)(?:_|$)/i
const onlyNames = /(?:uuid|_id)$/i

/** Splits camelCase, so that one rule matches both `privateKey` and `private_key`. */
const inWords = (name: string) => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_")

/**
 * Recognizes names of credential fields; a `…_uuid` or `…_id` only refers to one. Strict, for the few known fields that
 * a caller sends.
 */
export const isCredentialName = (name: string): boolean => unmistakable.test(name) && !onlyNames.test(name)

/**
 * Like `isCredentialName`, but true in case of doubt: for fields of a foreign record, which its vendor may extend at
 * any time.
 */
export const mayBeCredentialName = (name: string): boolean =>
  (unmistakable.test(name) || asWord.test(inWords(name))) && !onlyNames.test(name)

/** Minimum length of a form; shorter ones cannot be distinguished from words. */
const shortestForm = 4

/** Base64 of bytes at any offset of a longer text: the invariant middle of each of the three alignments. */
const inBase64 = (secret: string): ReadonlyArray<string> =>
  [0, 1, 2].flatMap((before) => {
    const text = Encoding.encodeBase64(" ".repeat(before) + secret).replace(/(?<!=)=+$/, "")
    const bits = 8 * (before + new TextEncoder().encode(secret).length)
    const middle = text.slice(Math.ceil(before * 8 / 6), Math.floor(bits / 6))
    return [middle, middle.replaceAll("+", "-").replaceAll("/", "_")]
  })

const hex = (sign: string) => sign.charCodeAt(0).toString(16).padStart(4, "0")
const unicodeEscape = (sign: string) => `\\u${hex(sign)}`

/** Forms of a text in JSON, as JavaScript, PHP, Python and Go write it. */
const inJson = (text: string): ReadonlyArray<string> => {
  const json = JSON.stringify(text).slice(1, -1)
  const inAscii = json.replace(/[^\0-\x7F]/g, unicodeEscape)
  return [
    json,
    json.replaceAll("/", "\\/"),
    inAscii,
    inAscii.replaceAll("/", "\\/"),
    json.replace(/[<>&]/g, unicodeEscape)
  ]
}

/** Forms of a text in HTML, with each way to write a quotation mark. */
const inHtml = (text: string): ReadonlyArray<string> => {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
  return ["&quot;", "&#34;"].flatMap((double) =>
    ["'", "&#39;", "&#039;", "&#x27;", "&apos;"].map((single) =>
      escaped.replaceAll("\"", double).replaceAll("'", single)
    )
  )
}

/** Forms of a text in a URL or an HTML form. */
const inUrl = (text: string): ReadonlyArray<string> => {
  const url = encodeURIComponent(text)
  const strictly = url.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
  const inForm = new URLSearchParams([["", text]]).toString().slice(1)
  return [url, strictly, inForm].flatMap((form) => [
    form,
    form.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())
  ])
}

/**
 * Forms in which a secret may be echoed: raw, in JSON, in JSON within a JSON string, in HTML (also either kind of JSON
 * in HTML), in a URL or an HTML form, in base64.
 */
const listSecretForms = (secret: string): ReadonlySet<string> => {
  // A lone surrogate has no escape; it is sent as U+FFFD.
  const text = new TextDecoder().decode(new TextEncoder().encode(secret))
  const json = inJson(secret)
  const forms = [secret, ...json, ...json.flatMap(inJson)]
  return new Set([...forms, ...forms.flatMap(inHtml), ...inUrl(text), ...inBase64(text)])
}

/** Minimum length of a line that is recognized on its own. */
const shortestLine = 16

/** A secret and, as output is scrubbed line by line, its longer lines. */
const linesOf = (secret: string): ReadonlyArray<string> =>
  secret.includes("\n")
    ? [secret, ...secret.split("\n").map((line) => line.trim()).filter((line) => line.length >= shortestLine)]
    : [secret]

/** Forms with the same prefix, grouped by length, the longest first. */
type FormsByLength = ReadonlyArray<readonly [length: number, forms: ReadonlySet<string>]>
type Forms = ReadonlyMap<string, FormsByLength>

const startOf = (form: string) => form.slice(0, shortestForm)

const formsOf = (secrets: ReadonlyArray<Redacted.Redacted>): Forms => {
  const byStart = new Map<string, Map<number, Set<string>>>()
  for (const secret of new Set(secrets.map(Redacted.value).flatMap(linesOf))) {
    if (secret.length < shortestForm) continue
    for (const form of listSecretForms(secret)) {
      if (form.length < shortestForm) continue
      const start = startOf(form)
      const lengths = byStart.get(start) ?? new Map<number, Set<string>>()
      lengths.set(form.length, (lengths.get(form.length) ?? new Set()).add(form))
      byStart.set(start, lengths)
    }
  }
  return new Map([...byStart].map(([start, lengths]) => [start, [...lengths].sort(([a], [b]) => b - a)]))
}

// Cached by list: the secrets in use are the same object until the settings change.
const known = new WeakMap<ReadonlyArray<Redacted.Redacted>, Forms>()
const knownFormsOf = (secrets: ReadonlyArray<Redacted.Redacted>): Forms => {
  const forms = known.get(secrets) ?? formsOf(secrets)
  known.set(secrets, forms)
  return forms
}

/** Length of the secret at `at`, or 0. */
const lengthAt = (text: string, at: number, forms: Forms): number => {
  const found = forms.get(text.slice(at, at + shortestForm))?.find(([length, all]) =>
    all.has(text.slice(at, at + length))
  )
  return found === undefined ? 0 : found[0]
}

/** Length of the end of a truncated secret at the start of a text. */
const cutLength = (text: string, forms: Forms): number => {
  let longest = 0
  for (const lengths of forms.values()) {
    for (const [length, all] of lengths) {
      for (const form of all) {
        for (let left = length - 1; left > longest; left--) {
          if (text.startsWith(form.slice(-left))) longest = left
        }
      }
    }
  }
  return longest >= shortestForm ? longest : 0
}

/**
 * Replaces every occurrence of a secret, in any of its forms, with `***`. The cost depends on the length of the text
 * alone, not on the number of secrets.
 * Scrub before truncating: half a secret cannot be recognized.
 * @param options.cut true if the beginning of the text is missing, so that it may start within a secret
 */
export const scrubText = (
  text: string,
  secrets: ReadonlyArray<Redacted.Redacted>,
  { cut = false }: { readonly cut?: boolean } = {}
): string => {
  const forms = knownFormsOf(secrets)
  if (forms.size === 0) return text
  let end = cut ? cutLength(text, forms) : 0
  let shown = end > 0 ? mask : ""
  for (let at = 0; at + shortestForm <= text.length; at++) {
    const length = lengthAt(text, at, forms)
    if (length === 0) continue
    // Overlapping secrets are replaced with a single mask.
    if (at >= end) shown += `${text.slice(end, at)}${mask}`
    end = Math.max(end, at + length)
  }
  return shown + text.slice(end)
}

/** Changes every string in a JSON value; keys are unchanged. */
const withTexts = (value: unknown, change: (text: string) => string): unknown => {
  if (Predicate.isString(value)) return change(value)
  if (Array.isArray(value)) return value.map((item) => withTexts(item, change))
  return Predicate.isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withTexts(item, change)]))
    : value
}

/** Scrubs every string in a JSON value; keys are unchanged. */
export const scrubJson = (value: unknown, secrets: ReadonlyArray<Redacted.Redacted>): unknown =>
  withTexts(value, (text) => scrubText(text, secrets))

/** Compares JSON values by their serialized form. */
export const isSameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Secrets that are sent to a server, or that decrypt the credentials for it. */
export const listServerSecrets = (
  { credentials }: Pick<ServerAccess, "credentials">
): ReadonlyArray<Redacted.Redacted> =>
  [credentials.password, credentials.sudoPassword, credentials.passphrase].flatMap((secret) =>
    secret === undefined ? [] : [secret]
  )

/** User and password of an address. A user alone may be a token, except `git`, the user of every SSH address. */
const userInfo = /(:\/\/)([^/\s@]{1,4096})@/g

const withoutUserInfo = (text: string): string =>
  text.replace(userInfo, (whole, slashes: string, user: string) => {
    const colon = user.indexOf(":")
    return user === "git" ? whole : `${slashes}${colon < 0 ? "" : user.slice(0, colon + 1)}${mask}@`
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

/**
 * A command line without its arguments, which may have credentials: `psql *** ***`. A first word that is more than the
 * name of a program, such as `PGPASSWORD=… psql`, is one of them.
 */
export const maskArguments = (command: ReadonlyArray<string>): ReadonlyArray<string> =>
  command.map((word, index) => index === 0 && /^[\w./\\:+-]+$/.test(word) ? word : mask)
