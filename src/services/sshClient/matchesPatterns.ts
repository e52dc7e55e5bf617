/** Matches a pattern of `*` and `?` in time proportional to the product of both lengths. */
export const matchesPattern = (text: string, pattern: string): boolean => {
  let [at, part, star, from] = [0, 0, -1, 0]
  while (at < text.length) {
    if (pattern[part] === "*") {
      star = part++
      from = at
    } else if (pattern[part] === "?" || pattern[part] === text[at]) {
      part += 1
      at += 1
    } else if (star >= 0) {
      part = star + 1
      at = ++from
    } else return false
  }
  while (pattern[part] === "*") part += 1
  return part === pattern.length
}

/** True when one pattern matches, and none that is negated with `!`. */
export const matchesPatterns = (text: string, patterns: ReadonlyArray<string>): boolean => {
  const negated = patterns.filter((pattern) => pattern.startsWith("!"))
  return !negated.some((pattern) => matchesPattern(text, pattern.slice(1))) &&
    patterns.some((pattern) => !pattern.startsWith("!") && matchesPattern(text, pattern))
}
