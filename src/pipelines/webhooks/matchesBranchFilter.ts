/** Matches a pattern in which `*` stands for anything; linear for patterns with few stars. */
const fits = (pattern: string, text: string): boolean => {
  const [first = "", ...rest] = pattern.split(/\*+/)
  const last = rest.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at + last.length <= text.length
}

/**
 * True if a hook's branch filter admits a branch. Supports names, `*`, and one list like `{main,release/*}`; a filter
 * with other special characters passes unchecked.
 */
export const matchesBranchFilter = (filter: string, branch: string): boolean => {
  if (filter === "" || /[?[\]\\!]/.test(filter)) return true
  const [, list] = /^\{([^{}]*)\}$/.exec(filter) ?? []
  if (list === undefined && /[{}]/.test(filter)) return true
  return (list ?? filter).split(list === undefined ? /$^/ : ",").some((pattern) => fits(pattern.trim(), branch))
}
