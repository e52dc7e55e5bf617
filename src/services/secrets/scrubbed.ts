import { Encoding, Redacted } from "effect"

/** Secrets of fewer characters cannot be told from words. */
const shortest = 4

/** What base64 shows of bytes wherever they stand in a longer text: of each of three alignments, the certain middle. */
const inBase64 = (secret: string): ReadonlyArray<string> =>
  [0, 1, 2].flatMap((before) => {
    const text = Encoding.encodeBase64(" ".repeat(before) + secret).replace(/=+$/, "")
    const bits = 8 * (before + new TextEncoder().encode(secret).length)
    const middle = text.slice(Math.ceil(before * 8 / 6), Math.floor(bits / 6))
    return middle.length < shortest ? [] : [middle, middle.replaceAll("+", "-").replaceAll("/", "_")]
  })

/** A secret as it may come back: raw, within JSON, within a URL or a form, within base64. */
const formsOf = (secret: string): ReadonlyArray<string> => {
  // Half a surrogate pair has no escape; it is sent as U+FFFD.
  const text = new TextDecoder().decode(new TextEncoder().encode(secret))
  const inUrl = encodeURIComponent(text)
  const strictly = inUrl.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
  const inForm = new URLSearchParams([["", text]]).toString().slice(1)
  const escaped = [inUrl, strictly, inForm]
  const inLowerCase = escaped.map((url) => url.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()))
  return [secret, JSON.stringify(secret).slice(1, -1), ...escaped, ...inLowerCase, ...inBase64(text)]
}

/** Text with every occurrence of a secret, in whatever form it came back, replaced by `***`. */
export const scrubbed = (text: string, secrets: ReadonlyArray<Redacted.Redacted>): string => {
  const forms = secrets.map(Redacted.value).filter((secret) => secret.length >= shortest).flatMap(formsOf)
  // The longer ones first: one secret may be part of another.
  return [...new Set(forms)].sort((a, b) => b.length - a.length).reduce(
    (shown, form) => shown.replaceAll(form, "***"),
    text
  )
}
