import { Predicate, type Redacted } from "effect"
import type { Raw } from "../../schema/applications/PlatformApp.ts"
import { mayBeCredentialName } from "../secrets/credentialName.ts"
import { scrubText } from "../secrets/scrubText.ts"
import { redactText } from "../secrets/shownText.ts"
import { disclosedFieldNames, isIdentifier, nestedRecords, openVariable } from "./disclosedFields.ts"

/** The reader of a record. */
export interface RecordReader {
  /** May read values of variables, and with them every field that is not known to be harmless. */
  readonly seesValues: boolean
  /** Secrets in use, which are never disclosed. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

/** Readers of a field: all callers, those who may see values, or none. */
type Judgement = "open" | "value" | "credential"

const mask = "***"
const valueFields = ["value", "real_value"]

/** True for values that reveal nothing: absent ones and flags. */
const tellsNothing = (value: unknown) =>
  value === null || value === undefined || value === "" || Predicate.isBoolean(value)

const judged = (name: string, around: Judgement): Judgement =>
  disclosedFieldNames.has(name) || isIdentifier(name) ? "open" : mayBeCredentialName(name) ? "credential" : around

const isOpenVariable = (record: Raw) => record["key"] === openVariable

/** Removes data that a reader may not see from the platform's responses. */
export interface Disclosure {
  readonly record: (record: Raw) => Raw
  /** Text of a field that every caller may read. */
  readonly text: (text: string) => string
  /** Body of any response that is relayed. */
  readonly body: (body: unknown) => unknown
}

/**
 * Filters the platform's responses for a reader. Fields of `openFields` are always disclosed; fields named like a
 * credential are masked for everyone; any other field, which a newer platform may have added, is disclosed only to
 * readers who see values.
 * Disclosed values are scrubbed, except identifiers. Masked fields are kept, so that a record keeps its shape.
 */
export const discloseTo = ({ secrets, seesValues }: RecordReader): Disclosure => {
  const disclose = (value: unknown, judgement: Judgement, isName: boolean): unknown => {
    if (tellsNothing(value)) return value
    if (judgement === "credential" || (judgement === "value" && !seesValues)) return mask
    if (Predicate.isString(value)) {
      if (isName) return value
      return judgement === "open" ? redactText(value, secrets) : scrubText(value, secrets)
    }
    if (Array.isArray(value)) return value.map((item) => disclose(item, judgement, isName))
    return Predicate.isReadonlyRecord(value) ? fieldsOf(value, judgement) : value
  }
  const field = (record: Raw, name: string, value: unknown, around: Judgement): unknown =>
    nestedRecords.has(name) && Predicate.isObject(value)
      ? body(value)
      : isOpenVariable(record) && valueFields.includes(name)
      ? disclose(value, "open", false)
      : disclose(value, judged(name, around), isIdentifier(name))
  const fieldsOf = (record: Raw, around: Judgement): Raw =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, field(record, name, value, around)]))
  const record = (fields: Raw) => fieldsOf(fields, "value")
  const body = (answer: unknown): unknown =>
    Array.isArray(answer)
      ? answer.map(body)
      : Predicate.isReadonlyRecord(answer)
      ? record(answer)
      : disclose(answer, "open", false)
  return { record, text: (text) => redactText(text, secrets), body }
}
