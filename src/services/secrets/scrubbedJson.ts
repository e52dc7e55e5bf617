import { Predicate, type Redacted } from "effect"
import { scrubText } from "./scrubText.ts"

/** Changes every string in a JSON value; keys are unchanged. */
export const withTexts = (value: unknown, change: (text: string) => string): unknown => {
  if (Predicate.isString(value)) return change(value)
  if (Array.isArray(value)) return value.map((item) => withTexts(item, change))
  return Predicate.isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withTexts(item, change)]))
    : value
}

/** Scrubs every string in a JSON value; keys are unchanged. */
export const scrubJson = (value: unknown, secrets: ReadonlyArray<Redacted.Redacted>): unknown =>
  withTexts(value, (text) => scrubText(text, secrets))

/** Compares JSON values by their serialized form. */
export const isSameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
