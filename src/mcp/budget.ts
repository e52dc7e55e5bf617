import { JSONSchema, Predicate, Schema } from "effect"

/** JSON Schema of an object, the form in which tools are described. */
export interface ObjectSchema {
  readonly type: "object"
  readonly [keyword: string]: unknown
}

/** Keywords without use for a model. */
const noise = new Set(["$schema", "$id", "$defs", "title", "examples"])

/** Keywords kept only in schemas of inputs: an answer shows by itself which fields it has. */
const inputOnly = new Set(["description", "additionalProperties", "required"])

const definition = (pointer: string, definitions: unknown): unknown =>
  Predicate.isRecord(definitions) ? definitions[pointer.replace("#/$defs/", "")] : {}

const isNull = (schema: unknown) => Predicate.isRecord(schema) && schema["type"] === "null"

/** Merges a choice of one type or null into the short form of JSON Schema: `type: [type, "null"]`. */
const orNull = (choices: ReadonlyArray<unknown>): Readonly<Record<string, unknown>> | undefined => {
  const [only, ...others] = choices.filter((choice) => !isNull(choice))
  if (others.length > 0 || !choices.some(isNull) || !Predicate.isRecord(only) || !Predicate.isString(only["type"])) {
    return undefined
  }
  const { enum: values } = only
  if (values !== undefined && !Array.isArray(values)) return undefined
  return { ...only, type: [only["type"], "null"], ...values === undefined ? {} : { enum: [...values, null] } }
}

const slimmed = (schema: unknown, definitions: unknown, described: boolean): unknown => {
  if (Array.isArray(schema)) return schema.map((each) => slimmed(each, definitions, described))
  if (!Predicate.isRecord(schema)) return schema
  const slim = (part: unknown) => slimmed(part, definitions, described)
  const { $ref, allOf, anyOf, properties, ...rest } = schema
  // Siblings of a reference, or of a single alternative, are merged into it.
  const inner = Predicate.isString($ref)
    ? slim(definition($ref, definitions))
    : Array.isArray(allOf) && allOf.length === 1
    ? slim(allOf[0])
    : undefined
  const kept = Object.fromEntries(
    Object.entries(rest)
      .filter(([keyword, value]) =>
        !noise.has(keyword) && !(keyword === "required" && Array.isArray(value) && value.length === 0) &&
        (described || !inputOnly.has(keyword))
      )
      .map(([keyword, value]) => [keyword, slim(value)])
  )
  const choices = Array.isArray(anyOf) ? anyOf.map(slim) : undefined
  return {
    ...(Predicate.isRecord(inner) ? inner : {}),
    ...kept,
    ...(Array.isArray(allOf) && inner === undefined ? { allOf: slim(allOf) } : {}),
    ...(choices === undefined ? {} : orNull(choices) ?? { anyOf: choices }),
    // Property names are not keywords, and are never filtered.
    ...(Predicate.isRecord(properties) && Object.keys(properties).length > 0
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, slim(field)])) }
      : {})
  }
}

/**
 * Reduces a schema to one object without references, titles and examples, so that a list of tools stays short. Keeps
 * descriptions for inputs, drops them for outputs.
 */
export const buildToolSchema = <A, I>(
  schema: Schema.Schema<A, I>,
  { described }: { readonly described: boolean }
): ObjectSchema => {
  const whole = JSONSchema.make(schema)
  const definitions = "$defs" in whole ? whole.$defs : {}
  const slim = slimmed(whole, definitions, described)
  // The schema of an empty object type accepts any value but null; tools need an object.
  if (!Predicate.isRecord(slim) || slim["anyOf"] !== undefined) {
    return { type: "object", properties: {}, additionalProperties: false }
  }
  return { ...slim, type: "object" }
}

/** Limits of the long texts, lists and open objects within an answer. */
interface Limits {
  /** Characters kept of a long text. */
  readonly text: number
  /** Entries kept of a list, or of an object whose fields are not in its schema. */
  readonly entries: number
}

/** Shortened part of an answer, with the number of omitted entries by the path of their list or object. */
interface Shortened {
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
const shortenAnswer = (value: unknown, schema: unknown, limits: Limits, path: string): Shortened => {
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

/** Longest answer in characters: an agent reads all of it. */
export const longestAnswer = 60_000
/** Part of `longestAnswer` for the JSON of the data; the fence around it takes the rest. */
const budget = longestAnswer - 500
/** Most characters of `leftOut` within the data. */
const noteReserve = 1_000

/** Number of omitted entries by list. */
export const LeftOut = Schema.Record({ key: Schema.String, value: Schema.Number })

type Answer = Readonly<Record<string, unknown>>

const lengthOf = (value: unknown) => JSON.stringify(value)?.length ?? 0

const everyEntry = Number.POSITIVE_INFINITY

/** Limits in ascending order: texts are shortened before entries are left out. */
const limits: ReadonlyArray<Limits> = [
  ...[0, 1, 3, 10, 30, 100].map((entries) => ({ text: 60, entries })),
  ...[60, 200, 500, 1_000, 2_000, 4_000, 8_000, 20_000].map((text) => ({ text, entries: everyEntry }))
]

/** A field of an answer: one value, or a list whose entries can be left out one by one. */
interface Field {
  readonly name: string
  readonly parts: ReadonlyArray<Shortened>
  readonly whole: number
  readonly isList: boolean
}

const fieldsOf = (answer: Answer, schema: ObjectSchema, limits: Limits): ReadonlyArray<Field> => {
  const properties = Predicate.isRecord(schema["properties"]) ? schema["properties"] : {}
  return Object.entries(answer).map(([name, value]) => {
    const field = properties[name]
    if (!Array.isArray(value)) {
      return { name, parts: [shortenAnswer(value, field, limits, name)], whole: 1, isList: false }
    }
    const items = Predicate.isRecord(field) ? field["items"] : undefined
    const parts = value.map((entry) => shortenAnswer(entry, items, limits, name))
    return { name, parts, whole: parts.length, isList: true }
  })
}

const answerOf = (fields: ReadonlyArray<Field>): Answer => {
  const leftOut = new Map<string, number>()
  for (const { name, parts, whole } of fields) {
    const missing = whole > parts.length ? [[name, whole - parts.length] as const] : []
    for (const [path, count] of [...missing, ...parts.flatMap((part) => part.leftOut)]) {
      leftOut.set(path, (leftOut.get(path) ?? 0) + count)
    }
  }
  return {
    ...Object.fromEntries(
      fields.map(({ isList, name, parts }) => [name, isList ? parts.map(({ value }) => value) : parts[0]?.value])
    ),
    ...(leftOut.size === 0 ? {} : { leftOut: Object.fromEntries(leftOut) })
  }
}

/** Selects the parts that fit, in order. A part that is too long is skipped, and the next ones are tried. */
const fitting = (parts: ReadonlyArray<Shortened>, room: number) => {
  let left = room
  return parts.filter(({ value }) => {
    const length = lengthOf(value) + 1
    if (length > left) return false
    left -= length
    return true
  })
}

/**
 * Leaves out entries that do not fit. Lists share the room; short ones leave the rest of their share to longer ones.
 */
const withoutTheRest = (fields: ReadonlyArray<Field>): ReadonlyArray<Field> => {
  const lengths = new Map(fields.map((field) => [field.name, lengthOf(field.parts.map(({ value }) => value))]))
  const lists = fields.filter(({ isList }) => isList).sort((one, other) =>
    (lengths.get(one.name) ?? 0) - (lengths.get(other.name) ?? 0)
  )
  const rest = answerOf(fields.map((field) => field.isList ? { ...field, parts: [], whole: 0 } : field))
  let room = budget - noteReserve - lengthOf(rest)
  const kept = new Map(lists.map((list, index) => {
    const parts = fitting(list.parts, room / (lists.length - index))
    room -= lengthOf(parts.map(({ value }) => value))
    return [list.name, parts]
  }))
  return fields.map((field) => ({ ...field, parts: kept.get(field.name) ?? field.parts }))
}

/**
 * Shortens an answer to the budget: first long texts, then lists within its entries, then whole entries that still do
 * not fit. The answer says how much is missing.
 */
export const fitToBudget = (answer: Answer, schema: ObjectSchema): Answer => {
  if (lengthOf(answer) <= budget) return answer
  const within = (limit: Limits) => fieldsOf(answer, schema, limit)
  const [least = { text: 0, entries: 0 }, ...others] = limits
  let best = answerOf(within(least))
  if (lengthOf(best) > budget) return answerOf(withoutTheRest(within(least)))
  // Binary search for the first limit that keeps too much: each attempt processes the whole answer.
  let [from, to] = [0, others.length]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    const candidate = answerOf(within(others[middle] ?? least))
    if (lengthOf(candidate) > budget) to = middle
    else [best, from] = [candidate, middle + 1]
  }
  return best
}
