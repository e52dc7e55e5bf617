import { Option, Schema, SchemaAST } from "effect"

const descriptionOf = ({ ast }: Schema.PropertySignature.All) =>
  ast._tag === "PropertySignatureDeclaration" ? SchemaAST.getDescriptionAnnotation(ast) : Option.none()

/**
 * Converts an optional, nullable request field to an optional one for a tool. The validators of some agents reject a
 * schema with two types.
 */
export const omitNull = <S extends Schema.Schema.Any>(
  field: Schema.optional<Schema.NullOr<S>>
): Schema.optional<S> =>
  Schema.optional(field.from.members[0]).annotations(
    Option.match(descriptionOf(field), { onNone: () => ({}), onSome: (description) => ({ description }) })
  )
