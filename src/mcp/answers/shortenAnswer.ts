import { Predicate } from "effect"

/** Limits of the long texts, lists and open objects within an answer. */
export interface Limits {
  /** Characters that are kept of a long text. */
  readonly text: number
  /** Entries that are kept of a list, or of an object whose fields no schema names. */
  readonly entries: number
}

/** Part of an answer, and how many entries it lacks, by the path of the list or object that they were left out of. */
export interface Shortened {
  readonly value: unknown
  readonly leftOut: ReadonlyArray<readonly [path: string, count: number]>
}

/** Texts up to this length, such as names and paths, stay whole. */
const longestName = 200
/** Longest note about the omitted rest. */
const noteLength = 40

/** The begin of a long text, and how much of it is missing. */
export const shortenText = (text: string, most: number): string => {
  if (text.length <= Math.max(longestName, most + noteLength)) return text
  const begin = text.slice(0, most).replace(/[\ud800-\udbff]$/, "")
  return `${begin}… (${text.length - begin.length} characters left out)`
}

const namedFields = (schema: unknown): Readonly<Record<string, unknown>> =>
  Predicate.isRecord(schema) && Predicate.isRecord(schema["properties"]) ? schema["properties"] : {}

/** An object that may lose any of its fields, as far as its schema says. */
const isOpen = (schema: unknown) =>
  !Predicate.isRecord(schema) || (schema["anyOf"] === undefined && Object.keys(namedFields(schema)).length === 0)

const join = (parts: ReadonlyArray<Shortened>): Shortened["leftOut"] => parts.flatMap(({ leftOut }) => leftOut)

/** Shortens what is long within a value, and keeps what its schema requires. */
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
  // Fields that no schema names have one path, so that paths stay few.
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
