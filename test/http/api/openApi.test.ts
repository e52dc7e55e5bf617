import { OpenApi } from "@effect/platform"
import { Predicate } from "effect"
import { describe, expect, it } from "vitest"
import { collectFailures } from "../../../src/http/api/annotations.ts"
import { BerthApi } from "../../../src/http/api/BerthApi.ts"
import { documentSecurity } from "../../../src/http/api/openApi.ts"

const spec = OpenApi.fromApi(BerthApi)
const operations = Object.values(spec.paths).flatMap((path) => Object.values(path))
const named = operations.map((operation) => [operation.operationId, operation] as const)

/** Every object of a description, with where it stands. */
const nodes = (
  node: unknown,
  at: string
): ReadonlyArray<readonly [at: string, node: { readonly [key: string]: unknown }]> => {
  if (Array.isArray(node)) return node.flatMap((each, index) => nodes(each, `${at}/${index}`))
  if (!Predicate.isRecord(node)) return []
  return [[at, node], ...Object.entries(node).flatMap(([key, value]) => nodes(value, `${at}/${key}`))]
}
const all = nodes(spec, "")
const references = all.flatMap(([, { $ref }]) => (Predicate.isString($ref) ? [$ref] : []))
const schemas = Object.keys(spec.components.schemas ?? {}).map((name) => `#/components/schemas/${name}`)

describe("the description of the API", () => {
  it("has the run of every endpoint that can meet a store of runs that is full", () => {
    // Two annotations say that: one the failures that callers may meet, the other the run that is named to them.
    const waits = operations.filter((operation) =>
      JSON.stringify(operation.responses["429"] ?? "").includes("runs wait")
    )
    expect(waits.length).toBeGreaterThan(10)
    expect(
      waits.filter(({ responses }) => !Object.hasOwn(responses, "202")).map(({ operationId }) => operationId)
    ).toEqual([])
  })

  it("says of every property what it is", () => {
    const silent = all.flatMap(([at, { properties }]) =>
      Predicate.isRecord(properties) && !at.endsWith("/properties")
        ? Object.entries(properties).flatMap(([name, schema]) =>
          Predicate.isRecord(schema) && String(schema["description"] ?? "").endsWith(".") ? [] : [`${at}.${name}`]
        )
        : []
    )
    expect(silent).toEqual([])
  })

  it("says of every parameter what it is", () => {
    const silent = operations.flatMap(({ operationId, parameters }) =>
      parameters.flatMap(({ description, name }) =>
        (description ?? "").endsWith(".") ? [] : [`${operationId}: ${name}`]
      )
    )
    expect(silent).toEqual([])
  })

  it.each(named)("has an id, a summary, a description and failures for %s", (id, operation) => {
    expect(id).toMatch(/^[a-z][A-Za-z]+$/)
    expect(operation.summary).toMatch(/^[A-Z]/)
    expect(operation.description).toMatch(/\.$/)
    const statuses = Object.keys(operation.responses)
    expect(statuses.some((status) => /^4\d\d$/.test(status))).toBe(true)
    expect(statuses.filter((status) => !/^[245]\d\d$/.test(status))).toEqual([])
  })

  it("has the failures of every operation", () => {
    expect([...collectFailures(BerthApi).keys()].sort()).toEqual(named.map(([id]) => id).sort())
  })

  it("tells the failures that an operation has, and not those of others", () => {
    const statusesOf = (id: string) =>
      Object.keys(operations.find(({ operationId }) => operationId === id)?.responses ?? {}).sort()
    expect(statusesOf("health")).toEqual(["200", "400", "401", "403", "429", "500"])
    expect(statusesOf("getRun")).toEqual(["200", "400", "401", "403", "404", "429", "500", "503"])
    expect(statusesOf("createEnv")).toEqual(
      ["200", "400", "401", "403", "404", "409", "413", "415", "422", "429", "500", "502", "504"]
    )
  })

  it("leads every reference to a schema, and has no schema that nothing refers to", () => {
    expect(references.filter((reference) => !schemas.includes(reference))).toEqual([])
    expect(schemas.filter((schema) => !references.includes(schema))).toEqual([])
  })

  it("has none of the words that its generator writes for itself", () => {
    const leftovers = all.flatMap(([at, node]) =>
      !at.endsWith("/properties") && at !== "/info" && ("title" in node || "$id" in node) ? [at] : []
    )
    expect(leftovers).toEqual([])
    expect(schemas.filter((name) => /\/(Int|NonEmptyString|Issue|PropertyKey|HttpApiDecodeError)$/.test(name))).toEqual(
      []
    )
  })

  it("names the words that the status of a deploy can be", () => {
    expect(JSON.stringify(spec.components.schemas?.["DeployResult"])).toContain(
      `"enum":["healthy","starting","unhealthy","exited","missing"]`
    )
  })

  it("says where the service is, and asks for the token at every operation when there is one", () => {
    expect(spec.servers).toEqual([{ url: "/", description: expect.any(String) }])
    expect(documentSecurity({ ...spec })).toMatchObject({
      security: [{ token: [] }, { session: [] }, { plainSession: [] }],
      components: {
        securitySchemes: { session: { name: "__Host-berth_session" }, plainSession: { name: "berth_session" } }
      }
    })
    // An empty list of an operation's own says that it needs no token: only plain health and the log-in do not.
    const open = operations.filter((operation) => "security" in operation)
    expect(open).toMatchObject([
      { operationId: "health", security: [] },
      { operationId: "openSession", security: [] }
    ])
  })
})
