import { escapeText } from "../../schema/words/escaped.ts"

const colors = /\u001b\[[\d;]*m/g

/** Escapes control characters of untrusted text, so that it stays on one line. */
export const escapeInline = (text: string): string => escapeText(text, "\t")

/** Escapes a log line; keeps its colours on a colour terminal and resets them at its end. */
export const escapeLogLine = (text: string, hasColor: boolean): string => {
  // A carriage return overwrites the line: only the text after the last one is visible.
  const line = text.split("\r").filter((part) => part !== "").at(-1) ?? ""
  if (!hasColor || !line.includes("\u001b[")) return escapeInline(line.replace(colors, ""))
  const marks = line.match(colors) ?? []
  return `${line.split(colors).map(escapeInline).map((part, index) => part + (marks[index] ?? "")).join("")}\u001b[0m`
}

/** Escapes untrusted lines for a terminal; keeps colours, tabs and line breaks. */
export const escapeMultiline = (text: string): string => {
  const marks = text.match(colors) ?? []
  return text.split(colors).map((part, index) => escapeText(part, "\t\n") + (marks[index] ?? "")).join("")
}

const wide = /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/u
const zeroWidth = /\p{Mark}|[\u200b-\u200d]/u

const widthOf = (sign: string) => (zeroWidth.test(sign) ? 0 : wide.test(sign) ? 2 : 1)

/** Display width in columns, without colour codes. */
export const measureWidth = (text: string): number =>
  Array.from(text.replace(colors, "")).reduce((width, sign) => width + widthOf(sign), 0)

/** Truncates text to a width with an ellipsis; truncated text loses its colours. */
export const truncate = (text: string, columns: number): string => {
  if (measureWidth(text) <= columns) return text
  let width = 0
  let kept = ""
  for (const sign of text.replace(colors, "")) {
    width += widthOf(sign)
    if (width > columns - 1) return `${kept}…`
    kept += sign
  }
  return kept
}
