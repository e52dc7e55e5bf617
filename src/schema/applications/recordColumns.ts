import { Schema, Struct } from "effect"
import { declaredFields } from "./declaredFields.ts"

type DeclaredFields = typeof declaredFields
type Column = NonNullable<DeclaredFields[keyof DeclaredFields]["record"]>

/** Keys of the record whose values are texts. */
export type TextKey = Extract<Column, { readonly kind: "text" | "path" }>["key"]
/** Keys of the record whose values are true or false. */
export type FlagKey = Extract<Column, { readonly kind: "flag" }>["key"]

/** A declared field that the platform stores in the application's record: its name in the file, with its row. */
export const recordFields = Struct.entries(declaredFields).flatMap(([name, { fallback, label, record }]) =>
  record === undefined ? [] : [{ name, label, fallback, record }]
)
export type RecordField = (typeof recordFields)[number]

/** A field of the platform's own: described and never validated, so that one odd record spoils no list. */
export const defineLooseField = (kind: string, description: string) =>
  Schema.optional(Schema.Unknown.annotations({ jsonSchema: { description: `${description}. Usually ${kind}.` } }))

/** The declared fields of a record, for the description of the API. */
export const describedColumns = Object.fromEntries(
  recordFields.map(({ record: { description, key, usually: kind } }) => [key, defineLooseField(kind, description)])
)
