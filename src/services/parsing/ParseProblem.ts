/** A position in a text. Lines and columns are counted from 1. */
export interface TextPosition {
  readonly line: number
  readonly column: number
}

/** Syntax error or exceeded limit of a foreign text, and its place. */
export interface ParseProblem extends TextPosition {
  /** `LIMIT`, or a code of the parser. */
  readonly code: string
  readonly reason: string
}

/** The line and the column of an offset. */
export const computeLineAndColumn = (text: string, offset: number): TextPosition => {
  const before = text.slice(0, offset)
  const start = before.lastIndexOf("\n") + 1
  let line = 1
  for (let at = before.indexOf("\n"); at >= 0; at = before.indexOf("\n", at + 1)) line += 1
  return { line, column: offset - start + 1 }
}
