import { Either, Predicate } from "effect"
import { interpolate } from "./interpolate.ts"

/** A string of a compose file and where it stands. */
interface Written {
  readonly path: ReadonlyArray<PropertyKey>
  readonly text: string
}

/** A variable that has no value and no default. */
export interface UnsetVariable {
  readonly name: string
  /** First use. */
  readonly path: ReadonlyArray<PropertyKey>
}

/** Every shell of a server has these. */
const environment = ["HOME", "PATH", "PWD", "USER", "LOGNAME", "SHELL"]

/** Aliases share their content: it is read once. */
const stringsIn = (content: unknown): ReadonlyArray<Written> => {
  const found: Array<Written> = []
  const seen = new Set<unknown>()
  const pending: Array<{ readonly path: ReadonlyArray<PropertyKey>; readonly value: unknown }> = [
    { path: [], value: content }
  ]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { path, value } = next
    if (Predicate.isString(value)) {
      if (value.includes("$")) found.push({ path, text: value })
    } else if (Predicate.isObject(value) && !seen.has(value)) {
      seen.add(value)
      const isList = Array.isArray(value)
      for (const [key, part] of Object.entries(value).toReversed()) {
        pending.push({ path: [...path, isList ? Number(key) : key], value: part })
      }
    }
  }
  return found
}

/**
 * The variables of a compose file that Compose leaves empty, each once. Left is the first text that Compose refuses,
 * for want of a variable or of a brace.
 */
export const findUnsetVariables = (
  content: unknown,
  values: ReadonlyMap<string, string>
): Either.Either<
  ReadonlyArray<UnsetVariable>,
  { readonly path: ReadonlyArray<PropertyKey>; readonly reason: string }
> => {
  const known = new Map([...environment.map((name) => [name, "set"] as const), ...values])
  const unset = new Map<string, UnsetVariable>()
  for (const { path, text } of stringsIn(content)) {
    const { missing } = interpolate(text, known, (name) => {
      if (!unset.has(name)) unset.set(name, { name, path })
    })
    if (missing !== null) return Either.left({ path, reason: missing })
  }
  return Either.right([...unset.values()])
}
