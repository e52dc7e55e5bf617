import { Option, Schema, SchemaAST } from "effect"

const descriptionOf = ({ ast }: Schema.PropertySignature.All) =>
  ast._tag === "PropertySignatureDeclaration" ? SchemaAST.getDescriptionAnnotation(ast) : Option.none()

/**
 * An optional field of a request as a tool takes it: left out or given, and never null. The validators of some agents
 * refuse a schema with two types.
 */
export const omitNull = <S extends Schema.Schema.Any>(
  field: Schema.optional<Schema.NullOr<S>>
): Schema.optional<S> =>
  Schema.optional(field.from.members[0]).annotations(
    Option.match(descriptionOf(field), { onNone: () => ({}), onSome: (description) => ({ description }) })
  )
