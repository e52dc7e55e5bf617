import { interpolate } from "./interpolate.ts"

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
export interface EnvValues {
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
