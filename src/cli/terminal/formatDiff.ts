import { escapeLogLine } from "./safeText.ts"
import type { Surface } from "./Screen.ts"
import { makeStyler, type Style } from "./style.ts"

const styleOf = (line: string): Style | undefined =>
  line.startsWith("+") ? "green" : line.startsWith("-") ? "red" : line.startsWith("@@") ? "cyan" : undefined

/** Lines of a unified diff without its file headers. */
export const formatDiff = (diff: string, surface: Surface): ReadonlyArray<string> =>
  diff.split("\n").filter((line) => line !== "" && !/^(---|\+\+\+|Index:|===)/.test(line)).map((line) => {
    const text = escapeLogLine(line, false)
    const style = styleOf(line)
    return style === undefined ? text : makeStyler(surface)(style, text)
  })
