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

/** The column of a field that the platform stores in the application's record. */
export interface RecordColumn {
  /** Its key, in neutral words. */
  readonly key: string
  /** Coolify's key, where that is another. */
  readonly coolify?: string
  /** A `path` begins with a slash in Coolify. */
  readonly kind: "text" | "path" | "flag"
  /** Its values and its meaning, for the description of the API. */
  readonly usually: string
  readonly description: string
  /** The value that a record without the key stands for. */
  readonly absent?: (entry: EntryContext) => string | boolean | undefined
  /** Build packs whose applications it is written to; all when left out. */
  readonly writtenFor?: BuildPacks
  /** Build packs whose updates record a change of it; those of `writtenFor` when left out. */
  readonly recordedFor?: BuildPacks
  /** Declared build packs for which drift compares it; those of `recordedFor` when left out. */
  readonly comparedFor?: BuildPacks
  readonly comparedIf?: (entry: EntryContext) => boolean
}

/** A row of the table of declared fields, without its name. */
interface Row<A, I, F, R> {
  readonly schema: Schema.Schema<A, I>
  /** The name that drift, plans and the changelog show. */
  readonly label: string
  /** Its meaning and an example, for the docs. */
  readonly description: string
  readonly example: NoInfer<A>
  /** The value of an entry without it; undefined where there is none, or where settings or the directory decide. */
  readonly fallback: F
  /** Undefined for a field that is applied in another way: as a variable, a route, or the place of the application. */
  readonly record: R
}

/** A field as the property of an entry's schema that carries its own row. */
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
