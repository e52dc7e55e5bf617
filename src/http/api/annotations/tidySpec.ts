import { Predicate } from "effect"

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
export const tidySpec = (spec: { readonly [key: string]: unknown }): { [key: string]: unknown } => {
  const tidied = tidy(spec)
  if (!Predicate.isRecord(tidied)) return { ...spec }
  const components = Predicate.isRecord(tidied["components"]) ? tidied["components"] : {}
  const schemas = Predicate.isRecord(components["schemas"]) ? components["schemas"] : {}
  return { ...tidied, components: { ...components, schemas: used(schemas, tidied["paths"]) } }
}
