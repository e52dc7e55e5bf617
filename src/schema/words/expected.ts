import { Option, Predicate, SchemaAST } from "effect"

/** `a`, `a or b`, `a, b or c`. */
export const formatList = (words: ReadonlyArray<string>, conjunction: "and" | "or"): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${conjunction} ${words[words.length - 1]}`

/** True for schemas that accept only null or an absent value. */
export const isNothing = (ast: SchemaAST.AST): boolean =>
  SchemaAST.isUndefinedKeyword(ast) || (SchemaAST.isLiteral(ast) && ast.literal === null) ||
  (SchemaAST.isUnion(ast) && ast.types.every(isNothing))

/** Flattened members of a union, without null and undefined. */
const choicesOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> =>
  SchemaAST.isUnion(ast) ? ast.types.flatMap(choicesOf) : isNothing(ast) ? [] : [ast]

/** Encoded side of a schema, below refinements and transformations. */
const written = (ast: SchemaAST.AST): SchemaAST.AST =>
  SchemaAST.isRefinement(ast) || SchemaAST.isTransformation(ast)
    ? written(ast.from)
    : SchemaAST.isSuspend(ast)
    ? written(ast.f())
    : ast

const signaturesOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.PropertySignature> => {
  const object = written(ast)
  return SchemaAST.isTypeLiteral(object) && object.indexSignatures.length === 0 ? object.propertySignatures : []
}

/** Names of an object's fields; empty if any field is allowed. */
export const listSchemaFields = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  signaturesOf(ast).map(({ name }) => String(name))

/** Names of an object's required fields; all fields if none is required. */
export const listRequiredFields = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  const needed = signaturesOf(ast).filter(({ isOptional }) => !isOptional).map(({ name }) => String(name))
  return needed.length === 0 ? listSchemaFields(ast) : needed
}

const ofFields = (ast: SchemaAST.AST) => {
  const names = listSchemaFields(ast)
  return names.length === 0 ? "" : ` with ${formatList(names, "and")}`
}

const isWhole = (ast: SchemaAST.AST): boolean =>
  SchemaAST.isRefinement(ast) && (
    Option.exists(SchemaAST.getJSONSchemaAnnotation(ast), (json) => "type" in json && json["type"] === "integer") ||
    isWhole(ast.from)
  )

const literalsOf = (asts: ReadonlyArray<SchemaAST.AST>) =>
  asts.flatMap((ast) => SchemaAST.isLiteral(ast) && Predicate.isString(ast.literal) ? [ast.literal] : [])

const many = (ast: SchemaAST.AST): string => {
  const choices = choicesOf(written(ast))
  const literals = literalsOf(choices)
  const [only] = choices
  if (literals.length > 0) return formatList(literals, "or")
  if (choices.length !== 1 || only === undefined) return formatList(choices.map(many), "or")
  const kind = written(only)
  if (SchemaAST.isStringKeyword(kind)) return "strings"
  if (SchemaAST.isNumberKeyword(kind)) return isWhole(only) ? "whole numbers" : "numbers"
  return SchemaAST.isTypeLiteral(kind) ? `objects${ofFields(kind)}` : "values"
}

const one = (ast: SchemaAST.AST): string => {
  const kind = written(ast)
  if (SchemaAST.isUnion(kind)) return formatList([...new Set(choicesOf(kind).map(one))], "or")
  if (SchemaAST.isStringKeyword(kind)) return "a string"
  if (SchemaAST.isNumberKeyword(kind)) return isWhole(ast) ? "a whole number" : "a number"
  if (SchemaAST.isBooleanKeyword(kind)) return "true or false"
  if (SchemaAST.isLiteral(kind)) return String(kind.literal)
  if (SchemaAST.isTypeLiteral(kind)) return `an object${ofFields(kind)}`
  if (!SchemaAST.isTupleType(kind)) return "another value"
  const [element] = [...kind.elements, ...kind.rest]
  return element === undefined ? "a list" : `a list of ${many(element.type)}`
}

/** Describes the expected value: `must be a list of strings`, `must be file or directory`. */
export const describeExpected = (ast: SchemaAST.AST): string => `must be ${one(ast)}`

type Bounds = { readonly [name: string]: unknown }

const limits = (json: Bounds): string | undefined => {
  const { exclusiveMinimum, maxItems, maxLength, maximum, minItems, minLength, minimum } = json
  if (minLength === 1 || minItems === 1) return "must not be empty"
  if (Predicate.isNumber(minLength)) return `must have at least ${minLength} characters`
  if (Predicate.isNumber(maxLength)) return `must have at most ${maxLength} characters`
  if (Predicate.isNumber(minItems)) return `must have at least ${minItems} items`
  if (Predicate.isNumber(maxItems)) return `must have at most ${maxItems} items`
  if (Predicate.isNumber(minimum) && Predicate.isNumber(maximum)) return `must be from ${minimum} to ${maximum}`
  if (Predicate.isNumber(minimum)) return minimum === 0 ? "must not be negative" : `must be at least ${minimum}`
  if (Predicate.isNumber(maximum)) return `must be at most ${maximum}`
  return Predicate.isNumber(exclusiveMinimum) ? `must be more than ${exclusiveMinimum}` : undefined
}

/** Describes the limit that a value of the right type violates, if the refinement declares one. */
export const describeLimit = (ast: SchemaAST.Refinement): string =>
  Option.match(SchemaAST.getJSONSchemaAnnotation(ast), {
    onNone: () => undefined,
    onSome: (json) => limits({ ...json })
  }) ?? (isWhole(ast) ? "must be a whole number" : "is not valid")
