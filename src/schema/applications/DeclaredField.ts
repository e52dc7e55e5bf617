import { Schema } from "effect"

/** Build pack of an application. */
export const BuildPack = Schema.Literal("composestack", "autopack", "imagefile").annotations({
  message: () => ({ message: "must be composestack, autopack or imagefile", override: true })
})
export type BuildPack = typeof BuildPack.Type

/** The fields of an entry that defaults and conditions of its other fields depend on. */
export interface EntryContext {
  readonly buildpack?: BuildPack
  readonly static?: boolean
}

type BuildPacks = ReadonlyArray<BuildPack>

/** Column of a declared field in the platform's application record. */
export interface RecordColumn {
  /** Neutral key. */
  readonly key: string
  /** Coolify's key, if different. */
  readonly coolify?: string
  /** Type of the value. Coolify requires a leading slash in a `path`. */
  readonly kind: "text" | "path" | "flag"
  /** Usual type of its value, for the description of the API. */
  readonly usually: string
  readonly description: string
  /** Value that a record without the key implies. */
  readonly absent?: (entry: EntryContext) => string | boolean | undefined
  /** Build packs whose applications have it written; all by default. */
  readonly writtenFor?: BuildPacks
  /** Build packs whose updates record a change of it; default `writtenFor`. */
  readonly recordedFor?: BuildPacks
  /** Declared build packs for which drift compares it; default `recordedFor`. */
  readonly comparedFor?: BuildPacks
  readonly comparedIf?: (entry: EntryContext) => boolean
}

/** A row of the table of declared fields, without its name. */
interface Row<A, I, F, R> {
  readonly schema: Schema.Schema<A, I>
  /** Label in drift, plans and the changelog. */
  readonly label: string
  /** Meaning of the field, for the docs. */
  readonly description: string
  readonly example: NoInfer<A>
  /** Default of an entry without the field; undefined if there is none, or if settings or the directory decide. */
  readonly fallback: F
  /** Undefined if the field is applied in another way: as a variable, a route, or the place of the application. */
  readonly record: R
}

/** Creates the property of an entry's schema for a field, with its row attached. */
export const defineField = <
  A,
  I,
  const F extends NoInfer<A> | ((entry: EntryContext) => NoInfer<A>) | undefined,
  const R extends RecordColumn | undefined
>({ description, example, fallback, label, record, schema }: Row<A, I, F, R>) =>
  Object.assign(Schema.optionalWith(schema, { exact: true }).annotations({ description, example }), {
    label,
    fallback,
    record
  })
