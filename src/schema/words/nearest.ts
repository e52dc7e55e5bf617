const normalized = (text: string) => text.toLowerCase().replaceAll(/[-_]/g, "")

/** Damerau-Levenshtein distance: insertions, deletions, replacements and swaps of neighbours. */
const editDistance = (a: string, b: string): number => {
  let beforeLast: ReadonlyArray<number> = []
  let last: ReadonlyArray<number> = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1]
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      current.push(Math.min(
        (last[column] ?? Infinity) + 1,
        (current[column - 1] ?? Infinity) + 1,
        (last[column - 1] ?? Infinity) + (isSame ? 0 : 1),
        isSwap ? (beforeLast[column - 2] ?? Infinity) + 1 : Infinity
      ))
    }
    beforeLast = last
    last = current
  }
  return last[b.length] ?? Infinity
}

/** Longer words are not compared, to bound the work for any input. */
const longest = 64

/**
 * Finds the known word closest to `word`, ignoring case, hyphens and underscores. Allows one typo for every three
 * characters, and at least one; undefined if no word is that close.
 */
export const findNearest = (word: string, known: ReadonlyArray<string>): string | undefined => {
  if (word.length > longest) return undefined
  const written = normalized(word)
  const most = Math.max(1, Math.floor(written.length / 3))
  const [best] = known
    .map((name) => ({ name, distance: editDistance(written, normalized(name)) }))
    .filter(({ distance, name }) => distance <= most && distance < normalized(name).length)
    .toSorted((a, b) => a.distance - b.distance)
  return best?.name
}

/** Suggestion for the end of a sentence, such as ` Did you mean "domain"?`; empty if no known word is close. */
export const suggestNearest = (word: string, known: ReadonlyArray<string>): string => {
  const meant = findNearest(word, known)
  return meant === undefined ? "" : ` Did you mean "${meant}"?`
}
