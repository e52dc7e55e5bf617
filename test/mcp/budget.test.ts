import { describe, expect, it } from "@effect/vitest"
import { Ajv } from "ajv"
import { FastCheck, Predicate } from "effect"
import { fitToBudget, longestAnswer, type ObjectSchema } from "../../src/mcp/budget.ts"
import { listTools } from "../../src/mcp/server.ts"
import { inPart } from "../fixtures/thorough.ts"

const tools = listTools({ readOnly: false })
const schemaOf = (tool: string): ObjectSchema =>
  tools.find(({ name }) => name === tool)?.outputSchema ?? { type: "object" }
const lengthOf = (value: unknown) => JSON.stringify(value).length
const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const nameOf = (entry: unknown) => (Predicate.isRecord(entry) ? String(entry["name"]) : "")

const ajv = new Ajv({ strict: false })
const invalidIn = (schema: ObjectSchema, answer: unknown) => {
  const fits = ajv.validate(schema, JSON.parse(JSON.stringify(answer)))
  return fits ? [] : ajv.errors
}

// Mostly short ones, and now and then one that is longer than a whole answer.
const size = FastCheck.oneof(
  { weight: 8, arbitrary: FastCheck.integer({ min: 0, max: 80 }) },
  { weight: 2, arbitrary: FastCheck.integer({ min: 150, max: 5_000 }) },
  { weight: 1, arbitrary: FastCheck.integer({ min: 5_000, max: 90_000 }) }
)
const text = FastCheck.tuple(size, FastCheck.constantFrom("x", "\"", "\n", "\u{1f680}", "line\n", "ü"))
  .map(([length, unit]) => unit.repeat(Math.ceil(length / unit.length)))
const anything = FastCheck.oneof(
  text,
  FastCheck.integer(),
  FastCheck.array(text, { maxLength: 40 }),
  FastCheck.dictionary(text, FastCheck.oneof(text, FastCheck.array(text)), { maxKeys: 30 })
)

/** Values that fit an output schema, of all sizes. */
const fitting = (schema: unknown): FastCheck.Arbitrary<unknown> => {
  if (!Predicate.isRecord(schema)) return anything
  const { anyOf, enum: words, items, properties, required, type } = schema
  if (Array.isArray(anyOf)) return FastCheck.oneof(...anyOf.map(fitting))
  if (Array.isArray(words)) return FastCheck.constantFrom<unknown>(...words)
  if (Array.isArray(type)) return FastCheck.oneof(...type.map((one) => fitting({ ...schema, type: one })))
  if (type === "string") return text
  if (type === "boolean") return FastCheck.boolean()
  if (type === "null") return FastCheck.constant(null)
  if (type === "number" || type === "integer") return FastCheck.integer({ min: 0 })
  if (type === "array") {
    return FastCheck.tuple(FastCheck.integer({ min: 1, max: 6 }), FastCheck.array(fitting(items), { maxLength: 5 }))
      .map(([times, entries]) => Array.from({ length: times }, () => entries).flat())
  }
  if (!Predicate.isRecord(properties) || Object.keys(properties).length === 0) {
    return type === "object" ? FastCheck.dictionary(text, text, { maxKeys: 30 }) : anything
  }
  const { leftOut: _, ...fields } = properties
  return FastCheck.record(
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fitting(field)])),
    { requiredKeys: Array.isArray(required) ? required.map(String) : [] }
  )
}

const anyAnswer = (schema: ObjectSchema) => fitting(schema).filter(Predicate.isRecord)

describe("an answer for an agent", () => {
  const scan = schemaOf("scan_server")

  it("stays as it is while it is short", () => {
    expect(fitToBudget({ runs: [1, 2], next: null }, schemaOf("list_runs"))).toEqual({ runs: [1, 2], next: null })
  })

  it.each(tools)("of $name is short enough and fits its schema, whatever is in it", ({ outputSchema }) => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    FastCheck.sample(anyAnswer(outputSchema), { seed, numRuns: inPart(25, 8) }).forEach((answer, run) => {
      const about = (value: unknown) => ({ seed, run, value })
      const kept = fitToBudget(answer, outputSchema)
      expect(about(lengthOf(kept) < longestAnswer)).toEqual(about(true))
      expect(about(invalidIn(outputSchema, kept))).toEqual(about([]))
      const leftOut = Predicate.isRecord(kept["leftOut"]) ? kept["leftOut"] : {}
      for (const [name, whole] of Object.entries(answer)) {
        if (!Array.isArray(whole)) continue
        // No list is empty that has entries, and what is missing is counted.
        expect(about([name, listOf(kept[name]).length > 0])).toEqual(about([name, whole.length > 0]))
        const missing = whole.length - listOf(kept[name]).length
        expect(about([name, leftOut[name]])).toEqual(about([name, missing === 0 ? undefined : missing]))
      }
    })
  })

  const deployed = (name: string, composeFileContent: string | null) => ({
    name,
    remotePath: `~/containers/${name}`,
    hasComposeFile: composeFileContent !== null,
    hasEnv: true,
    hasData: false,
    tarFile: null,
    composeFileContent
  })

  it("tells of every stack when one compose file is longer than all of it", () => {
    const stacks = [deployed("long", "services: {}\n".repeat(10_000)), deployed("short", "services: {}\n")]
    const answer = fitToBudget({ deployed: stacks }, scan)
    expect(answer["leftOut"]).toBeUndefined()
    expect(answer["deployed"]).toMatchObject([
      { name: "long", composeFileContent: expect.stringMatching(/^services[^]*… \(110000 characters left out\)$/) },
      deployed("short", "services: {}\n")
    ])
  })

  it("has the names of all entries that could fit, and counts the others", () => {
    const stack = FastCheck.tuple(FastCheck.integer({ min: 1, max: 60 }), FastCheck.option(size))
    FastCheck.assert(
      FastCheck.property(FastCheck.array(stack, { maxLength: 600, size: "max" }), (sizes) => {
        const all = sizes.map(([length, content], index) =>
          deployed(`${index}-`.padEnd(length, "n"), content === null ? null : "c".repeat(content))
        )
        const answer = fitToBudget({ deployed: all }, scan)
        const names = new Set(listOf(answer["deployed"]).map(nameOf))
        const spare = longestAnswer - 2_000 - lengthOf(answer)
        // The least that could have been said of it: 60 characters of its file, and how many are missing.
        const least = (entry: (typeof all)[number]) => {
          const content = entry.composeFileContent ?? ""
          return lengthOf({ ...entry, composeFileContent: content.length > 200 ? content.slice(0, 100) : content })
        }
        expect(all.filter((entry) => !names.has(entry.name) && least(entry) < spare)).toEqual([])
        const missing = all.length - names.size
        expect(answer["leftOut"]).toEqual(missing === 0 ? undefined : { deployed: missing })
      }),
      { numRuns: inPart(60, 20), endOnFailure: true }
    )
  })

  it("loses entries of the lists within its entries before it loses those", () => {
    const projects = Array.from({ length: 100 }, (_, index) => ({
      name: `project-${index}`,
      servers: Array.from({ length: 100 }, () => ({ serverName: "s".repeat(50) }))
    }))
    const answer = fitToBudget({ projects, applications: [], servers: [], errors: [] }, schemaOf("overview"))
    expect(listOf(answer["projects"]).map(nameOf)).toEqual(projects.map(({ name }) => name))
    const [first] = listOf(answer["projects"])
    const kept = Predicate.isRecord(first) ? listOf(first["servers"]).length : 0
    expect(kept).toBeGreaterThan(0)
    expect(answer["leftOut"]).toEqual({ "projects.servers": 100 * (100 - kept) })
  })
})
