/** Text with its variables put in; `missing` says why it is not usable, in the file's own words where it has some. */
export interface Interpolated {
  readonly text: string
  readonly missing: string | null
}

const variable = /\$(?:(\$)|([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)(:?[-?+])?)/

/** Where the brace ends whose content this text begins with. */
const closingBrace = (text: string): number => {
  let depth = 1
  for (let index = 0; index < text.length; index++) {
    if (text.startsWith("${", index)) depth += 1
    if (text[index] === "}") depth -= 1
    if (depth === 0) return index
  }
  return -1
}

const braced = (
  name: string,
  operator: string,
  alternative: string,
  values: ReadonlyMap<string, string>
): Interpolated => {
  const value = values.get(name)
  const isSet = value !== undefined && !(operator.startsWith(":") && value === "")
  if (operator === "") return { text: value ?? "", missing: null }
  if (isSet !== operator.endsWith("+")) return { text: operator.endsWith("+") ? "" : value ?? "", missing: null }
  const inner = interpolate(alternative, values)
  if (!operator.endsWith("?")) return inner
  return { text: "", missing: inner.text === "" ? `${name} is not set` : `${name} is not set: ${inner.text}` }
}

/**
 * Puts variables into text as Compose does: `$A`, `${A}`, `${A:-b}`, `${A-b}`, `${A:?why}`, `${A?why}`, `${A:+b}`,
 * `${A+b}` and `$$`; one that is not set is empty. The alternatives may hold variables themselves.
 */
export const interpolate = (text: string, values: ReadonlyMap<string, string>): Interpolated => {
  let done = ""
  let missing: string | null = null
  let rest = text
  for (let match = variable.exec(rest); match !== null; match = variable.exec(rest)) {
    const [all, dollar, bare, name = "", operator = ""] = match
    const after = rest.slice(match.index + all.length)
    done += rest.slice(0, match.index)
    rest = after
    if (dollar !== undefined) done += "$"
    else if (bare !== undefined) done += values.get(bare) ?? ""
    else {
      const end = closingBrace(after)
      if (end < 0) return { text: done, missing: missing ?? `${all} has no closing brace` }
      const inner = braced(name, operator, after.slice(0, end), values)
      done += inner.text
      missing ??= inner.missing
      rest = after.slice(end + 1)
    }
  }
  return { text: done + rest, missing }
}
