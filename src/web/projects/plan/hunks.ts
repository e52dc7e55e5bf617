/** Hunk of a unified diff; `start` is its first line number in the new file. */
export interface DiffHunk {
  readonly start: number
  readonly before: string
  readonly after: string
}

/** Parses the hunks of a unified diff. */
export const parseHunks = (diff: string): ReadonlyArray<DiffHunk> => {
  const hunks: Array<{ start: number; before: Array<string>; after: Array<string> }> = []
  for (const line of diff.split("\n")) {
    const start = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line)?.[1]
    if (start !== undefined) {
      hunks.push({ start: Number(start), before: [], after: [] })
      continue
    }
    const hunk = hunks.at(-1)
    if (hunk === undefined) continue
    const text = line.slice(1)
    if (line.startsWith(" ")) {
      hunk.before.push(text)
      hunk.after.push(text)
    } else if (line.startsWith("-")) hunk.before.push(text)
    else if (line.startsWith("+")) hunk.after.push(text)
  }
  return hunks.map(({ after, before, start }) => ({ start, before: before.join("\n"), after: after.join("\n") }))
}

/** Counts added and removed lines of a unified diff. */
export const countChangedLines = (diff: string): { readonly added: number; readonly removed: number } => {
  const lines = diff.split("\n")
  const body = lines.slice(lines.findIndex((line) => line.startsWith("@@")))
  return {
    added: body.filter((line) => line.startsWith("+")).length,
    removed: body.filter((line) => line.startsWith("-")).length
  }
}
