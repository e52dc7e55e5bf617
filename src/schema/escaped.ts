// C0 and C1 controls, what ends a line, and what changes the direction of text.
const unsafe = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

const named: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }

/**
 * Somebody else's text as it can be printed: what would move a cursor, end a line or turn the text around stands there
 * in words, as `\n` or `\u001b`.
 * @param kept the control characters that may stay
 */
export const escaped = (text: string, kept = ""): string =>
  text.replace(
    unsafe,
    (sign) => kept.includes(sign) ? sign : named[sign] ?? `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`
  )
