import { Schema } from "effect"

/** How long the JSON of an answer may be, in characters: an agent reads all of it. */
const budget = 60_000

/** How many entries of which lists an answer lacks. */
export const LeftOut = Schema.Record({ key: Schema.String, value: Schema.Number }).annotations({
  description: "How many entries of each list were left out to keep this short."
})

const lengthOf = (value: unknown) => JSON.stringify(value)?.length ?? 0

/** The first entries of a list that fit. */
const fitting = (list: ReadonlyArray<unknown>, room: number): ReadonlyArray<unknown> => {
  let left = room
  const end = list.findIndex((entry) => {
    left -= lengthOf(entry) + 1
    return left < 0
  })
  return end === -1 ? list : list.slice(0, end)
}

/** An answer whose lists are cut where it is too long to read, which says how many entries it lacks. */
export const withinBudget = (answer: object): Readonly<Record<string, unknown>> => {
  const fields = Object.entries(answer)
  if (lengthOf(answer) <= budget) return Object.fromEntries(fields)
  const lists = fields.filter(([, value]) => Array.isArray(value))
  const others = lengthOf(Object.fromEntries(fields.filter(([, value]) => !Array.isArray(value))))
  const room = Math.max(0, budget - others) / Math.max(1, lists.length)
  const cut = fields.map(([name, value]) => [name, Array.isArray(value) ? fitting(value, room) : value] as const)
  const missing = cut.flatMap(([name, value]) => {
    const whole = lists.find(([list]) => list === name)?.[1]
    const lacks = Array.isArray(value) && Array.isArray(whole) ? whole.length - value.length : 0
    return lacks > 0 ? [[name, lacks] as const] : []
  })
  return { ...Object.fromEntries(cut), leftOut: Object.fromEntries(missing) }
}
