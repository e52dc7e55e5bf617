// Characters that affect only presentation and can hide a message: variation selectors, tags, and joiners within emoji
// or scripts that need them.
const presentation = /[\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0000}-\u{e0fff}]|(?<=\P{ASCII})[\u200c\u200d]/gu

// Control characters, line separators, lone surrogates, annotations, and invisible characters: direction marks,
// zero-width spaces, fillers, soft hyphens.
const unsafe = /[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu

const named: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }

// Escapes UTF-16 code units, so that JSON stays valid.
const inWords = (sign: string): string =>
  named[sign] ?? sign.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")

/**
 * Escapes untrusted text for users and agents: characters that would move the cursor, end a line, change the direction
 * or stay invisible become `\n` or `\u001b`. Joined emoji are split.
 * @param kept control characters to keep
 */
export const escapeText = (text: string, kept = ""): string =>
  text.replace(presentation, "").replace(unsafe, (sign) => kept.includes(sign) ? sign : inWords(sign))

const colors = /\u001b\[[\d;]*m|\r(?=\n|$)/g

/** Escapes untrusted text of several lines: removes colors, keeps line breaks and tabs. */
export const escapeTextLines = (text: string): string => escapeText(text.replace(colors, ""), "\t\n")
