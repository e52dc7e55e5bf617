import { JSONSchema, Predicate, type Schema } from "effect"

/** A JSON Schema of an object, as tools are described with. */
export interface ObjectSchema {
  readonly type: "object"
  readonly [keyword: string]: unknown
}

/** What a model learns nothing from. */
const noise = new Set(["$schema", "$id", "$defs", "title", "examples"])

const definition = (pointer: string, definitions: unknown): unknown =>
  Predicate.isRecord(definitions) ? definitions[pointer.replace("#/$defs/", "")] : {}

const isNull = (schema: unknown) => Predicate.isRecord(schema) && schema["type"] === "null"

/** A choice of a type or null, in the short way that JSON Schema has for it. */
const orNull = (choices: ReadonlyArray<unknown>): Readonly<Record<string, unknown>> | undefined => {
  const [only, ...others] = choices.filter((choice) => !isNull(choice))
  return others.length === 0 && choices.some(isNull) && Predicate.isRecord(only) && Predicate.isString(only["type"]) &&
      only["enum"] === undefined
    ? { ...only, type: [only["type"], "null"] }
    : undefined
}

const slimmed = (schema: unknown, definitions: unknown, described: boolean): unknown => {
  if (Array.isArray(schema)) return schema.map((each) => slimmed(each, definitions, described))
  if (!Predicate.isRecord(schema)) return schema
  const slim = (part: unknown) => slimmed(part, definitions, described)
  const { $ref, allOf, anyOf, properties, ...rest } = schema
  // What stands beside a reference, or around one schema alone, adds to it.
  const inner = Predicate.isString($ref)
    ? slim(definition($ref, definitions))
    : Array.isArray(allOf) && allOf.length === 1
    ? slim(allOf[0])
    : undefined
  const kept = Object.fromEntries(
    Object.entries(rest)
      .filter(([keyword]) =>
        !noise.has(keyword) && (described || (keyword !== "description" && keyword !== "additionalProperties"))
      )
      .map(([keyword, value]) => [keyword, slim(value)])
  )
  const choices = Array.isArray(anyOf) ? anyOf.map(slim) : undefined
  return {
    ...(Predicate.isRecord(inner) ? inner : {}),
    ...kept,
    ...(Array.isArray(allOf) && inner === undefined ? { allOf: slim(allOf) } : {}),
    ...(choices === undefined ? {} : orNull(choices) ?? { anyOf: choices }),
    // The names of fields are not keywords.
    ...(Predicate.isRecord(properties)
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, slim(field)])) }
      : {})
  }
}

/**
 * A schema as a tool shows it to a model: one object without references, titles and examples, so that a list of tools
 * stays short. What comes in is described, what goes out is not.
 */
export const slimSchema = <A, I>(
  schema: Schema.Schema<A, I>,
  { described }: { readonly described: boolean }
): ObjectSchema => {
  const whole = JSONSchema.make(schema)
  const definitions = "$defs" in whole ? whole.$defs : {}
  const slim = slimmed(whole, definitions, described)
  // An empty object is told as anything that is not nothing.
  if (!Predicate.isRecord(slim) || slim["anyOf"] !== undefined) {
    return { type: "object", properties: {}, additionalProperties: false }
  }
  return { ...slim, type: "object" }
}
