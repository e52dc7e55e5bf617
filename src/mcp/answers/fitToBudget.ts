import { Predicate, Schema } from "effect"
import type { ObjectSchema } from "./buildToolSchema.ts"
import { type Limits, shortenAnswer, type Shortened } from "./shortenAnswer.ts"

/** Longest answer in characters: an agent reads all of it. */
export const longestAnswer = 60_000
/** Part of `longestAnswer` for the JSON of the data; the fence around it takes the rest. */
const budget = longestAnswer - 500
/** Most characters of `leftOut` within the data. */
const noteLength = 1_000

/** Number of omitted entries by list. */
export const LeftOut = Schema.Record({ key: Schema.String, value: Schema.Number }).annotations({
  description: "Number of entries left out of each list."
})

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
  let room = budget - noteLength - lengthOf(rest)
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
