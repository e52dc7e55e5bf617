import { describe, expect, it } from "@effect/vitest"
import { Effect, Option, Predicate } from "effect"
import { Berth } from "../../src/client/Berth.ts"
import { listTools } from "../../src/mcp/server.ts"

const never = () => Effect.dieMessage("The service was asked")
const unasked = Berth.of({
  where: "nowhere",
  outlives: () => Effect.succeed(true),
  use: never,
  answer: never,
  start: never,
  run: never,
  exec: never,
  runEvents: () => {
    throw new Error("The service was asked")
  },
  followLogs: () => {
    throw new Error("The service was asked")
  },
  followProjectLogs: () => {
    throw new Error("The service was asked")
  }
})

/** The schema of a field, without that it may be null. */
const meant = (schema: unknown): unknown =>
  Predicate.isRecord(schema) && Array.isArray(schema["anyOf"]) ? schema["anyOf"][0] : schema
const mayBeNull = (schema: unknown) => JSON.stringify(schema).includes("\"null\"")

const typesOf = (schema: unknown) => [Predicate.isRecord(schema) ? schema["type"] : undefined].flat()

/** Valid values of a field, by its schema. */
const fitting = (field: unknown): unknown => {
  const schema = meant(field)
  if (Predicate.isRecord(schema) && schema["pattern"] !== undefined) return "x".repeat(30)
  if (Predicate.isRecord(schema) && Array.isArray(schema["enum"])) return schema["enum"][0]
  return typesOf(schema).includes("integer") ? 5 : typesOf(schema).includes("boolean") ? true : "~/x"
}

/** Invalid values for each constraint of its schema. */
const unfit = (field: unknown): ReadonlyArray<unknown> => {
  const schema = meant(field)
  if (!Predicate.isRecord(schema)) return []
  const { enum: words, maximum, minimum, minLength } = schema
  return [
    { nested: true },
    ["a"],
    ...(typesOf(schema).includes("string") ? [5] : ["many"]),
    ...(mayBeNull(field) ? [] : [null]),
    ...(Array.isArray(words) ? ["none of these"] : []),
    ...(typeof maximum === "number" ? [maximum + 1] : []),
    ...(typeof minimum === "number" ? [minimum - 1, minimum + 0.5] : []),
    ...(minLength === 1 ? [""] : [])
  ]
}

const mistakes = listTools({ readOnly: false }).flatMap((tool) => {
  const { properties, required } = tool.inputSchema
  const fields = Object.entries(Predicate.isRecord(properties) ? properties : {})
  const needed = Array.isArray(required) ? required.map(String) : []
  const right = Object.fromEntries(fields.map(([name, schema]) => [name, fitting(schema)]))
  const row = (field: string, given: unknown) => ({ tool, name: tool.name, field, given })
  return [
    ...[[], "text", 5].map((given) => row("", given)),
    row("surplus", { ...right, surplus: 1 }),
    ...needed.map((field) =>
      row(field, Object.fromEntries(fields.flatMap(([name]) => name === field ? [] : [[name, right[name]]])))
    ),
    ...fields.flatMap(([field, schema]) => unfit(schema).map((value) => row(field, { ...right, [field]: value })))
  ]
})

describe("arguments that do not fit", () => {
  it.effect.each(mistakes)(
    "are refused by $name before anything is asked: $given",
    ({ field, given, tool }) =>
      Effect.gen(function*() {
        const refused = yield* tool.call(given, () => Effect.void).pipe(
          Effect.provideService(Berth, unasked),
          Effect.flip
        )
        expect(refused).toMatchObject({ reason: "refused", status: 400 })
        expect(refused.message).toContain(field)
        expect(refused.message).not.toMatch(/Expected|undefined|\breadonly\b|└|\{ /)
        expect(refused.message.length).toBeLessThan(600)
      })
  )

  it("are tried of every tool", () => {
    expect(new Set(mistakes.map(({ name }) => name)).size).toBe(listTools({ readOnly: false }).length)
    expect(Option.fromNullable(mistakes.find(({ field }) => field === "planHash"))).toSatisfy(Option.isSome)
  })
})
