import { Predicate } from "effect"
import { accessKey, type Failures, hostCookie, plainCookie } from "./annotations.ts"

type Node = { readonly [key: string]: unknown }

/** True for leftovers of the generator: `$id`s that no server resolves, and its default titles and descriptions. */
const isLeftover = (key: string, value: unknown, parent: Node) =>
  key === "$id" || (key === "title" && Predicate.isString(value) && !("version" in parent)) ||
  (key === "description" && /^(a|an) (string|number|integer|array) /.test(String(value)))

/** Merges a reference with its siblings: OpenAPI 3.1 needs no `allOf` for that. */
const unwrapped = (node: Node): Node => {
  const { allOf, ...others } = node
  const [only, ...more] = Array.isArray(allOf) ? allOf : []
  return Predicate.isRecord(only) && "$ref" in only && more.length === 0 ? { ...only, ...others } : node
}

const tidy = (node: unknown, isNames = false): unknown => {
  if (Array.isArray(node)) return node.map((each) => tidy(each))
  if (!Predicate.isRecord(node)) return node
  const entries = Object.entries(isNames ? node : unwrapped(node))
  return Object.fromEntries(
    entries.flatMap(([key, value]) =>
      !isNames && isLeftover(key, value, node) ? [] : [[key, tidy(value, !isNames && key === "properties")]]
    )
  )
}

const namesIn = (node: unknown): ReadonlyArray<string> => {
  if (Array.isArray(node)) return node.flatMap(namesIn)
  if (!Predicate.isRecord(node)) return []
  const reference = Predicate.isString(node["$ref"]) ? [node["$ref"].replace("#/components/schemas/", "")] : []
  return [...reference, ...Object.values(node).flatMap(namesIn)]
}

/** Selects the schemas that are reachable from the paths. */
const used = (schemas: Node, from: unknown): Node => {
  const found = new Set<string>()
  const pending = [...namesIn(from)]
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (found.has(name)) continue
    found.add(name)
    pending.push(...namesIn(schemas[name]))
  }
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => found.has(name)))
}

/** Removes the generator's leftovers and unreferenced schemas from a description. */
const tidySpec = (spec: { readonly [key: string]: unknown }): { [key: string]: unknown } => {
  const tidied = tidy(spec)
  if (!Predicate.isRecord(tidied)) return { ...spec }
  const components = Predicate.isRecord(tidied["components"]) ? tidied["components"] : {}
  const schemas = Predicate.isRecord(components["schemas"]) ? components["schemas"] : {}
  return { ...tidied, components: { ...components, schemas: used(schemas, tidied["paths"]) } }
}

type MutableNode = { [key: string]: unknown }
const isNode = (value: unknown): value is MutableNode => Predicate.isRecord(value)
const at = (node: MutableNode, key: string): MutableNode => {
  const value = node[key]
  return isNode(value) ? value : {}
}

const errorResponse = (description: string) => ({
  description,
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } }
})

const viewersRefused = "Or the token is a viewer's."

/** True if a body decodes from `null`, so that requests may omit it. */
const acceptsNull = (body: MutableNode): boolean => {
  const schema = at(at(at(body, "content"), "application/json"), "schema")
  const options = Array.isArray(schema["anyOf"]) ? schema["anyOf"] : []
  return options.some((option) => isNode(option) && option["type"] === "null")
}

const operation = (failures: ReadonlyMap<string, Failures>) => (node: MutableNode): MutableNode => {
  const responses = at(node, "responses")
  const answers = Object.entries(responses).filter(([status]) => status.startsWith("2"))
  const body = node["requestBody"]
  // The generator's empty `security` would exempt the operation from the token that all operations require.
  const { security: _, ...others } = node
  const needsOperator = node[accessKey] === "operator"
  return {
    ...others,
    ...(String(node[accessKey]).startsWith("anyone") ? { security: [] } : {}),
    ...(isNode(body) ? { requestBody: { ...body, required: !acceptsNull(body) } } : {}),
    responses: {
      ...Object.fromEntries(answers),
      ...Object.fromEntries(
        (failures.get(String(node["operationId"])) ?? []).map(([status, when]) => [
          status,
          errorResponse(status === "403" && needsOperator ? `${when} ${viewersRefused}` : when)
        ])
      )
    }
  }
}

const mapValues = (node: MutableNode, f: (value: MutableNode) => MutableNode): MutableNode =>
  Object.fromEntries(Object.entries(node).map(([key, value]) => [key, isNode(value) ? f(value) : value]))

/**
 * Adds the actual failures and optional request bodies to the generated description, and removes parts that do not help
 * a reader.
 */
export const documentFailures = (failures: ReadonlyMap<string, Failures>) => (spec: MutableNode): MutableNode =>
  tidySpec({ ...spec, paths: mapValues(at(spec, "paths"), (path) => mapValues(path, operation(failures))) })

/** Adds the security schemes of a service that requires a token, so that API tools offer to send one. */
export const documentSecurity = (spec: MutableNode): MutableNode => {
  const components = at(spec, "components")
  const token = {
    type: "http",
    scheme: "bearer",
    description: "`http.token` or one of `http.tokens` in the service's settings."
  }
  const cookie = (name: string, scheme: string) => ({
    type: "apiKey",
    in: "cookie",
    name,
    description: `Cookie that POST /api/session leaves in a browser, for the service's pages on ${scheme}.`
  })
  const session = cookie(hostCookie, "https")
  const plainSession = cookie(plainCookie, "http")
  return {
    ...spec,
    components: { ...components, securitySchemes: { token, session, plainSession } },
    security: [{ token: [] }, { session: [] }, { plainSession: [] }]
  }
}
