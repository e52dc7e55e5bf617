import { Schema, Struct } from "effect"
import { declaredFields } from "./declaredFields.ts"

type DeclaredFields = typeof declaredFields
type Column = NonNullable<DeclaredFields[keyof DeclaredFields]["record"]>

/** Keys of the record with string values. */
export type TextKey = Extract<Column, { readonly kind: "text" | "path" }>["key"]
/** Keys of the record with boolean values. */
export type FlagKey = Extract<Column, { readonly kind: "flag" }>["key"]

/** Declared fields in the platform's application record: name in the file, with the row. */
export const recordFields = Struct.entries(declaredFields).flatMap(([name, { fallback, label, record }]) =>
  record === undefined ? [] : [{ name, label, fallback, record }]
)
export type RecordField = (typeof recordFields)[number]

/** Field owned by the platform: documented but never validated, so that one odd record does not break a list. */
export const defineLooseField = (kind: string, description: string) =>
  Schema.optional(Schema.Unknown.annotations({ jsonSchema: { description: `${description}. Usually ${kind}.` } }))

/** The declared fields of a record, for the description of the API. */
export const describedColumns = Object.fromEntries(
  recordFields.map(({ record: { description, key, usually: kind } }) => [key, defineLooseField(kind, description)])
)
