import { Predicate, type Redacted } from "effect"
import { scrubText } from "./scrubText.ts"

/** A JSON value with every text in it changed; keys stay as they are. */
export const withTexts = (value: unknown, change: (text: string) => string): unknown => {
  if (Predicate.isString(value)) return change(value)
  if (Array.isArray(value)) return value.map((item) => withTexts(item, change))
  return Predicate.isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withTexts(item, change)]))
    : value
}

/** A JSON value with every text in it scrubbed; keys stay as they are. */
export const scrubJson = (value: unknown, secrets: ReadonlyArray<Redacted.Redacted>): unknown =>
  withTexts(value, (text) => scrubText(text, secrets))

/** Compares JSON values by their serialized form. */
export const isSameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
