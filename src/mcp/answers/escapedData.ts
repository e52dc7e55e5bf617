import { Predicate } from "effect"
import { escapeTextLines } from "../../schema/words/escaped.ts"

/** Escapes all texts and property names of data, at every depth, like `escapedLines`. */
export const escapeData = (data: unknown): unknown => {
  if (typeof data === "string") return escapeTextLines(data)
  if (Array.isArray(data)) return data.map(escapeData)
  return Predicate.isRecord(data) ? escapeFields(data) : data
}

/** Escapes the texts and property names of an object. */
export const escapeFields = (data: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [escapeTextLines(name), escapeData(value)]))
