// They choose how a sign looks and can hide a message in it: variation selectors, tags, and joiners within an emoji or a
// script that needs them.
const presentation = /[\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0000}-\u{e0fff}]|(?<=\P{ASCII})[\u200c\u200d]/gu

// Controls, what ends a line, halves of pairs, annotations, and what has no shape of its own: marks that change the
// direction of text, spaces of no width, fillers, soft hyphens.
const unsafe = /[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu

const named: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }

// By UTF-16 units, so that JSON stays JSON.
const inWords = (sign: string): string =>
  named[sign] ?? sign.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")

/**
 * Foreign text as it can be shown to people and agents: what would move a cursor, end a line, turn the text
 * around or stay invisible stands there in words, as `\n` or `\u001b`. Joined emoji fall apart into their parts.
 * @param kept the control characters that may stay
 */
export const escapeText = (text: string, kept = ""): string =>
  text.replace(presentation, "").replace(unsafe, (sign) => kept.includes(sign) ? sign : inWords(sign))

const colors = /\u001b\[[\d;]*m|\r(?=\n|$)/g

/** Foreign text of many lines, without colours, with `escaped` for all but its line breaks and tabs. */
export const escapeTextLines = (text: string): string => escapeText(text.replace(colors, ""), "\t\n")
