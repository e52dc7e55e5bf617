import { OpenApi } from "@effect/platform"
import { Predicate } from "effect"
import { BerthApi } from "../api/BerthApi.ts"

const namesIn = (node: unknown): ReadonlyArray<string> => {
  if (Array.isArray(node)) return node.flatMap(namesIn)
  if (!Predicate.isRecord(node)) return []
  const properties = Predicate.isRecord(node["properties"]) ? Object.keys(node["properties"]) : []
  return [...properties, ...Object.values(node).flatMap(namesIn)]
}

let names: ReadonlySet<string> | undefined

/** Every name that a field of a request or an answer has, as the API is described. */
export const fieldNames = (): ReadonlySet<string> => names ??= new Set(namesIn(OpenApi.fromApi(BerthApi)))
