import { Array, Either, Option, type ParseResult } from "effect"
import { mistakesIn } from "../../schema/mistakes.ts"
import { settingDefinitions, type SettingName, type SettingValue } from "../../schema/Settings.ts"

/** One scalar of the settings file: what YAML makes of it, and its text. */
export interface Scalar {
  readonly value: string | number | boolean
  readonly text: string
}

/** What stands as the value of a setting. */
export type Written = Scalar | ReadonlyArray<Scalar>

/** A value and the line that it stands on, counted from 1. */
export interface Entry {
  readonly line: number
  readonly written: Written
}

export const isList = (written: Written): written is ReadonlyArray<Scalar> => Array.isArray(written)

/** A scalar made of a text alone, as an environment variable holds one. */
export const textScalar = (text: string): Scalar => ({ value: text, text })

const number = /^-?\d+(?:\.\d+)?$/

/** What a scalar may be meant as: itself, or else its text where it looks like something else, and the reverse. */
const readings = ({ text, value }: Scalar): ReadonlyArray<unknown> =>
  typeof value !== "string"
    ? [value, text]
    : number.test(text)
    ? [text, Number(text)]
    : text === "true" || text === "false"
    ? [text, text === "true"]
    : [text]

/** How a value is decoded: a schema's decoder. */
export type Decode<A> = (value: unknown) => Either.Either<A, ParseResult.ParseError>

const reasonOf = ({ issue }: ParseResult.ParseError): string => mistakesIn(issue)[0]?.words ?? "does not fit"

/** The value of a setting, or why it does not fit: never with the value itself. */
export const decodeWritten = <A>(decode: Decode<A>, written: Written): Either.Either<A, string> => {
  const candidates = isList(written) ? [written.map(({ text }) => text)] : readings(written)
  const decoded = candidates.map((value) => decode(value))
  const first = Option.orElse(Array.findFirst(decoded, Either.isRight), () => Array.head(decoded))
  return Option.match(first, {
    onNone: () => Either.left("does not fit"),
    onSome: Either.mapLeft(reasonOf)
  })
}

/** What a setting is decoded with, and what holds when it is absent. */
export interface Definition<A> {
  readonly decode: Decode<A>
  readonly fallback: A | undefined
}
export const definitions: { readonly [Name in SettingName]: Definition<SettingValue<Name>> } = settingDefinitions
