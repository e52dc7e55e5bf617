import { limits } from "../../schema/basics.ts"

/**
 * Text with its variables substituted; `missing` is the reason why it is unusable, in the file's own words if it has
 * some.
 */
interface Interpolated {
  readonly text: string
  readonly missing: string | null
  /** Exceeded limit, if there is one; also named in `missing`. */
  readonly excess: string | null
}

const deepest = 32
const refused = (excess: string): Interpolated => ({ text: "", missing: excess, excess })
const tooDeep = refused(`its variables are nested more than ${deepest} levels deep`)
const tooLong = refused(`it is longer than ${limits.value / 1024} KiB once its variables are put in`)

const variable = /\$(?:(\$)|([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)(:?[-?+])?)/

/** Index of the closing brace of an expression; past the end if it nests too deeply. */
const closingBrace = (text: string): number => {
  let depth = 1
  for (let index = 0; index < text.length; index++) {
    if (text.startsWith("${", index)) depth += 1
    if (text[index] === "}") depth -= 1
    if (depth === 0) return index
    if (depth > deepest) return Number.POSITIVE_INFINITY
  }
  return -1
}

const braced = (
  name: string,
  operator: string,
  alternative: string,
  values: ReadonlyMap<string, string>,
  onUnset: (name: string) => void
): Interpolated => {
  const value = values.get(name)
  const isSet = value !== undefined && !(operator.startsWith(":") && value === "")
  if (operator === "") {
    if (value === undefined) onUnset(name)
    return { text: value ?? "", missing: null, excess: null }
  }
  if (isSet !== operator.endsWith("+")) {
    return { text: operator.endsWith("+") ? "" : value ?? "", missing: null, excess: null }
  }
  const inner = interpolate(alternative, values, onUnset)
  if (!operator.endsWith("?") || inner.excess !== null) return inner
  const missing = inner.text === "" ? `${name} is not set` : `${name} is not set: ${inner.text}`
  return { text: "", missing, excess: null }
}

/**
 * Substitutes variables as Compose does: `$A`, `${A}`, `${A:-b}`, `${A-b}`, `${A:?why}`, `${A?why}`, `${A:+b}`,
 * `${A+b}` and `$$`; unset ones are empty. Alternatives may contain variables themselves.
 * @param onUnset called with the name of each unset variable that is used without a default
 */
export const interpolate = (
  text: string,
  values: ReadonlyMap<string, string>,
  onUnset: (name: string) => void = () => undefined
): Interpolated => {
  let done = ""
  let missing: string | null = null
  let rest = text
  for (let match = variable.exec(rest); match !== null; match = variable.exec(rest)) {
    const [all, dollar, bare, name = "", operator = ""] = match
    const after = rest.slice(match.index + all.length)
    done += rest.slice(0, match.index)
    rest = after
    if (done.length > limits.value) return tooLong
    if (dollar !== undefined) done += "$"
    else if (bare !== undefined) {
      const value = values.get(bare)
      if (value === undefined) onUnset(bare)
      done += value ?? ""
    } else {
      const end = closingBrace(after)
      if (end < 0) return { text: done, missing: missing ?? `${all} has no closing brace`, excess: null }
      if (end > after.length) return tooDeep
      const inner = braced(name, operator, after.slice(0, end), values, onUnset)
      if (inner.excess !== null) return inner
      done += inner.text
      missing ??= inner.missing
      rest = after.slice(end + 1)
    }
  }
  return rest !== text && done.length + rest.length > limits.value
    ? tooLong
    : { text: done + rest, missing, excess: null }
}

/** A variable of an env file. In single quotes it is literal, so `$` has no meaning. */
export interface EnvLine {
  readonly key: string
  readonly value: string
  readonly literal: boolean
}

const assignment =
  /^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*[=:][ \t]*(?:'([^']*)'|"([^"\\]*(?:\\[\s\S][^"\\]*)*)"|(.*))/gm
const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", "\"": "\"", "\\": "\\", $: "$$" }

const unescaped = (text: string) => text.replace(/\\([\s\S])/g, (all, character: string) => escapes[character] ?? all)
const bare = (text: string) => text.replace(/(?:^|[ \t])#[^]*/, "").trim()

/** Variables of an env file in order, without quotes and comments; repeated keys stay in order. */
export const parseEnv = (text: string): ReadonlyArray<EnvLine> =>
  Array.from(
    text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n").matchAll(assignment),
    ([, key = "", single, double, plain]) =>
      single === undefined
        ? { key, value: double === undefined ? bare(plain ?? "") : unescaped(double), literal: false }
        : { key, value: single, literal: true }
  )

/** Variables of an env file with their values, and the reason why one of them has no value. */
interface EnvValues {
  readonly values: ReadonlyMap<string, string>
  readonly refused: string | null
}

/** Values that Compose sees: the last one of each key, with earlier variables substituted. */
export const resolveEnvValues = (lines: ReadonlyArray<EnvLine>): EnvValues => {
  const values = new Map<string, string>()
  let refused: string | null = null
  for (const { key, literal, value } of lines) {
    const { excess, text } = literal ? { excess: null, text: value } : interpolate(value, values)
    if (excess !== null) refused ??= `${key}: ${excess}`
    values.set(key, text)
  }
  return { values, refused }
}
