import { Either, Predicate } from "effect"
import { interpolate } from "./interpolate.ts"

/** A string of a compose file and its position. */
interface Written {
  readonly path: ReadonlyArray<PropertyKey>
  readonly text: string
}

/** A variable that has no value and no default. */
export interface UnsetVariable {
  readonly name: string
  /** Position of its first use. */
  readonly path: ReadonlyArray<PropertyKey>
}

/** Variables that every shell on a server sets. */
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
 * Variables that Compose leaves empty in a compose file, without duplicates. Left is the first text that Compose
 * rejects because of a missing variable or brace.
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
