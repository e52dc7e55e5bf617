import { escaped } from "../../schema/escaped.ts"

const colors = /\u001b\[[\d;]*m/g

/** Somebody else's text on one line: what would move the cursor or change the terminal stands there in words. */
export const safeText = (text: string): string => escaped(text, "\t")

/** A line of a log: its colours stay where there are some, and end with it. */
export const safeLine = (text: string, hasColor: boolean): string => {
  // Of what was written over itself, what stands there in the end.
  const line = text.split("\r").filter((part) => part !== "").at(-1) ?? ""
  if (!hasColor || !line.includes("\u001b[")) return safeText(line.replace(colors, ""))
  const marks = line.match(colors) ?? []
  return `${line.split(colors).map(safeText).map((part, index) => part + (marks[index] ?? "")).join("")}\u001b[0m`
}

/** Lines as a terminal gets them, whoever wrote what: only colours, tabs and line breaks are more than signs. */
export const safeLines = (text: string): string => {
  const marks = text.match(colors) ?? []
  return text.split(colors).map((part, index) => escaped(part, "\t\n") + (marks[index] ?? "")).join("")
}

const wide = /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/u
const joined = /\p{Mark}|[\u200b-\u200d]/u

const widthOf = (sign: string) => (joined.test(sign) ? 0 : wide.test(sign) ? 2 : 1)

/** How many columns a text takes; colours take none. */
export const textWidth = (text: string): number =>
  Array.from(text.replace(colors, "")).reduce((width, sign) => width + widthOf(sign), 0)

/** A text of at most so many columns, with an ellipsis where something was left out. Its colours are left out then. */
export const fitted = (text: string, columns: number): string => {
  if (textWidth(text) <= columns) return text
  let width = 0
  let kept = ""
  for (const sign of text.replace(colors, "")) {
    width += widthOf(sign)
    if (width > columns - 1) return `${kept}…`
    kept += sign
  }
  return kept
}
