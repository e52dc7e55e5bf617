import { Predicate } from "effect"
import { escapedLines } from "../../schema/words/escaped.ts"

/** Data whose texts and names, at every depth, are as `escapedLines` makes them. */
export const escapedData = (data: unknown): unknown => {
  if (typeof data === "string") return escapedLines(data)
  if (Array.isArray(data)) return data.map(escapedData)
  return Predicate.isRecord(data) ? escapedFields(data) : data
}

/** The same of an object. */
export const escapedFields = (data: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [escapedLines(name), escapedData(value)]))
