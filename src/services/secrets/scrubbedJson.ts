import { Predicate, type Redacted } from "effect"
import { scrubbed } from "./scrubbed.ts"

/** A JSON value with every text in it scrubbed; keys stay as they are. */
export const scrubbedJson = (value: unknown, secrets: ReadonlyArray<Redacted.Redacted>): unknown => {
  if (Predicate.isString(value)) return scrubbed(value, secrets)
  if (Array.isArray(value)) return value.map((item) => scrubbedJson(item, secrets))
  return Predicate.isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, scrubbedJson(item, secrets)]))
    : value
}

/** Whether two JSON values are written alike. */
export const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
