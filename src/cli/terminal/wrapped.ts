import { textWidth } from "./safeText.ts"
import type { Surface } from "./Screen.ts"

/** Breaks a line between its words into lines of at most so many columns; a longer word stays whole. */
export const wrapped = (line: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let current = ""
  for (const word of line.split(" ")) {
    if (current !== "" && textWidth(current) + 1 + textWidth(word) > columns) {
      lines.push(current)
      current = word
    } else current = current === "" ? word : `${current} ${word}`
  }
  return [...lines, current]
}

const indentOf = (line: string) => /^ */.exec(line)?.[0].length ?? 0

/** Sentences as they read on a surface: on a terminal broken to its width, each line indented as it begins. */
export const prose = (text: string, surface: Surface): string =>
  surface.isTerminal
    ? text.split("\n").flatMap((line) => {
      if (textWidth(line) <= surface.columns) return [line]
      const indent = indentOf(line)
      const [first = "", ...others] = wrapped(line.slice(indent), surface.columns - indent - 2)
      return [" ".repeat(indent) + first, ...others.map((rest) => " ".repeat(indent + 2) + rest)]
    }).join("\n")
    : text
