import { describe, expect, it } from "@effect/vitest"
import { Ajv } from "ajv"
import { Predicate } from "effect"
import { listTools } from "../../src/mcp/server.ts"

const composed = ["anyOf", "oneOf", "allOf", "not", "if", "$ref", "const", "nullable"]

/** Every place below a schema that a validator with one `type` for each node does not take. */
const odd = (schema: unknown, at: string): ReadonlyArray<string> => {
  if (!Predicate.isRecord(schema)) return [`${at} is not a schema`]
  const { additionalProperties, items, properties, type } = schema
  return [
    ...(Predicate.isString(type) && type !== "null" ? [] : [`${at} has the type ${JSON.stringify(type)}`]),
    ...composed.flatMap((keyword) => keyword in schema ? [`${at} has ${keyword}`] : []),
    ...Object.entries(Predicate.isRecord(properties) ? properties : {}).flatMap(([name, field]) =>
      odd(field, `${at}.${name}`)
    ),
    ...(items === undefined ? [] : odd(items, `${at}[]`)),
    ...(Predicate.isRecord(additionalProperties) ? odd(additionalProperties, `${at}.*`) : [])
  ]
}

describe("the input schemas of the tools", () => {
  it.each(listTools({ readOnly: false }))("of $name has one type for each of its nodes", ({ inputSchema, name }) => {
    expect(odd(inputSchema, name)).toEqual([])
    expect(() => new Ajv({ strict: true }).compile(inputSchema)).not.toThrow()
  })

  it("are looked through to their ends", () => {
    const nested = { type: "object", properties: { a: { type: "array", items: { type: ["string", "null"] } } } }
    expect(odd(nested, "x")).toEqual(["x.a[] has the type [\"string\",\"null\"]"])
    expect(odd({ anyOf: [{ type: "string" }, { type: "null" }] }, "x")).toHaveLength(2)
  })
})
