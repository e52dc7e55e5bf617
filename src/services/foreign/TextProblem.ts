/** A position in a text. Lines and columns are counted from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** What is wrong with a text that somebody else wrote, and where. */
export interface TextProblem extends Place {
  /** What kind of mistake it is: `LIMIT`, or a word of the parser. */
  readonly code: string
  readonly reason: string
}

/** The line and the column of an offset. */
export const placeOf = (text: string, offset: number): Place => {
  const before = text.slice(0, offset)
  const start = before.lastIndexOf("\n") + 1
  let line = 1
  for (let at = before.indexOf("\n"); at >= 0; at = before.indexOf("\n", at + 1)) line += 1
  return { line, column: offset - start + 1 }
}
