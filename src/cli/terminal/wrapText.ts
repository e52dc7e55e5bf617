import { measureWidth } from "./safeText.ts"
import type { Surface } from "./Screen.ts"

/** Wraps a line between words; words longer than the width stay whole. */
export const wrapLine = (line: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let current = ""
  for (const word of line.split(" ")) {
    if (current !== "" && measureWidth(current) + 1 + measureWidth(word) > columns) {
      lines.push(current)
      current = word
    } else current = current === "" ? word : `${current} ${word}`
  }
  return [...lines, current]
}

const indentOf = (line: string) => /^ */.exec(line)?.[0].length ?? 0

/** Wraps text to the width of a terminal with hanging indentation; leaves it unchanged in pipes. */
export const wrapText = (text: string, surface: Surface): string =>
  surface.isTerminal
    ? text.split("\n").flatMap((line) => {
      if (measureWidth(line) <= surface.columns) return [line]
      const indent = indentOf(line)
      const [first = "", ...others] = wrapLine(line.slice(indent), surface.columns - indent - 2)
      return [" ".repeat(indent) + first, ...others.map((rest) => " ".repeat(indent + 2) + rest)]
    }).join("\n")
    : text
