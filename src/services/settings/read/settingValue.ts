import { Array, Either, Option, type ParseResult } from "effect"
import { settingDefinitions, type SettingName, type SettingValue } from "../../../schema/Settings.ts"
import { collectValidationIssues } from "../../../schema/words/validationIssues.ts"

/** A scalar of the settings file: its YAML value and its text. */
export interface Scalar {
  readonly value: string | number | boolean
  readonly text: string
}

/** Unresolved value of a setting. */
export type UnresolvedValue = Scalar | ReadonlyArray<Scalar>

/** A value and its line, counted from 1. */
export interface LocatedValue {
  readonly line: number
  readonly written: UnresolvedValue
}

export const isList = (written: UnresolvedValue): written is ReadonlyArray<Scalar> => Array.isArray(written)

/** Makes a scalar from a text alone, such as an environment variable. */
export const makeTextScalar = (text: string): Scalar => ({ value: text, text })

const number = /^-?\d+(?:\.\d+)?$/

/** Candidate values of a scalar: itself, then its text when it looks like another type, and the reverse. */
const readings = ({ text, value }: Scalar): ReadonlyArray<unknown> =>
  typeof value !== "string"
    ? [value, text]
    : number.test(text)
    ? [text, Number(text)]
    : text === "true" || text === "false"
    ? [text, text === "true"]
    : [text]

/** Decoder of a schema. */
export type Decode<A> = (value: unknown) => Either.Either<A, ParseResult.ParseError>

const reasonOf = ({ issue }: ParseResult.ParseError): string =>
  collectValidationIssues(issue)[0]?.words ?? "does not fit"

/** Decodes the value of a setting. The reason of a failure never contains the value. */
export const decodeWritten = <A>(decode: Decode<A>, written: UnresolvedValue): Either.Either<A, string> => {
  const candidates = isList(written) ? [written.map(({ text }) => text)] : readings(written)
  const decoded = candidates.map((value) => decode(value))
  const first = Option.orElse(Array.findFirst(decoded, Either.isRight), () => Array.head(decoded))
  return Option.match(first, {
    onNone: () => Either.left("does not fit"),
    onSome: Either.mapLeft(reasonOf)
  })
}

/** Decoder and default of a setting. */
export interface SettingDefinition<A> {
  readonly decode: Decode<A>
  readonly fallback: A | undefined
}
export const definitions: { readonly [Name in SettingName]: SettingDefinition<SettingValue<Name>> } = settingDefinitions
