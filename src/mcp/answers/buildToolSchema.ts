import { JSONSchema, Predicate, type Schema } from "effect"

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
