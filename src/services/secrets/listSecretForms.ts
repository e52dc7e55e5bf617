import { Encoding } from "effect"

/** Minimum length of a form; shorter ones cannot be distinguished from words. */
export const shortestForm = 4

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
export const listSecretForms = (secret: string): ReadonlySet<string> => {
  // A lone surrogate has no escape; it is sent as U+FFFD.
  const text = new TextDecoder().decode(new TextEncoder().encode(secret))
  const json = inJson(secret)
  const forms = [secret, ...json, ...json.flatMap(inJson)]
  return new Set([...forms, ...forms.flatMap(inHtml), ...inUrl(text), ...inBase64(text)])
}
