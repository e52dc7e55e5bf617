import { Predicate } from "effect"

/** Limits of the long texts, lists and open objects within an answer. */
export interface Limits {
  /** Characters kept of a long text. */
  readonly text: number
  /** Entries kept of a list, or of an object whose fields are not in its schema. */
  readonly entries: number
}

/** Shortened part of an answer, with the number of omitted entries by the path of their list or object. */
export interface Shortened {
  readonly value: unknown
  readonly leftOut: ReadonlyArray<readonly [path: string, count: number]>
}

/** Texts up to this length, such as names and paths, stay whole. */
const longestName = 200
/** Longest note about the omitted rest. */
const noteLength = 40

/** Truncates a long text and notes the number of omitted characters. */
export const shortenText = (text: string, most: number): string => {
  if (text.length <= Math.max(longestName, most + noteLength)) return text
  const begin = text.slice(0, most).replace(/[\ud800-\udbff]$/, "")
  return `${begin}… (${text.length - begin.length} characters left out)`
}

const namedFields = (schema: unknown): Readonly<Record<string, unknown>> =>
  Predicate.isRecord(schema) && Predicate.isRecord(schema["properties"]) ? schema["properties"] : {}

/** Checks that a schema names no fields, so that any of them may be dropped. */
const isOpen = (schema: unknown) =>
  !Predicate.isRecord(schema) || (schema["anyOf"] === undefined && Object.keys(namedFields(schema)).length === 0)

const join = (parts: ReadonlyArray<Shortened>): Shortened["leftOut"] => parts.flatMap(({ leftOut }) => leftOut)

/** Shortens long texts, lists and open objects within a value; keeps the fields that its schema names. */
export const shortenAnswer = (value: unknown, schema: unknown, limits: Limits, path: string): Shortened => {
  if (typeof value === "string") return { value: shortenText(value, limits.text), leftOut: [] }
  if (Array.isArray(value)) {
    const items = Predicate.isRecord(schema) ? schema["items"] : undefined
    const kept = value.slice(0, limits.entries).map((entry) => shortenAnswer(entry, items, limits, path))
    const missing = value.length - kept.length
    return {
      value: kept.map((entry) => entry.value),
      leftOut: [...(missing === 0 ? [] : [[path, missing] as const]), ...join(kept)]
    }
  }
  return Predicate.isRecord(value) ? shortenedFields(value, schema, limits, path) : { value, leftOut: [] }
}

const shortenedFields = (
  value: Readonly<Record<string, unknown>>,
  schema: unknown,
  limits: Limits,
  path: string
): Shortened => {
  const fields = Object.entries(value)
  const names = namedFields(schema)
  const open = isOpen(schema)
  // Fields that are not in the schema share one path, so that `leftOut` stays short.
  const others = path.endsWith(".*") ? path : `${path}.*`
  const kept = (open ? fields.slice(0, limits.entries) : fields).map(([name, field]) =>
    [name, shortenAnswer(field, names[name], limits, open ? others : `${path}.${name}`)] as const
  )
  const missing = fields.length - kept.length
  return {
    value: Object.fromEntries(kept.map(([name, field]) => [name, field.value])),
    leftOut: [...(missing === 0 ? [] : [[others, missing] as const]), ...join(kept.map(([, field]) => field))]
  }
}
