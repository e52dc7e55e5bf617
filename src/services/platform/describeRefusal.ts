import { Either, Predicate } from "effect"
import { parseJson } from "../parsing/json.ts"
import { makeExcerpt } from "../upstream/makeExcerpt.ts"

const sentences = (value: unknown): string =>
  Array.isArray(value) ? value.map(sentences).join(" ") : Predicate.isString(value) ? value : JSON.stringify(value)

/** Refused fields, each with its reason: `fqdn: This field is not allowed.` */
const refusedFields = (errors: unknown): ReadonlyArray<string> => {
  if (Predicate.isRecord(errors)) return Object.entries(errors).map(([field, why]) => `${field}: ${sentences(why)}`)
  return Array.isArray(errors) ? errors.map(sentences) : Predicate.isString(errors) ? [errors] : []
}

/** Describes a refusal in one line: its message, and the refused fields. */
export const describeRefusal = (text: string): string => {
  const body = Either.getOrElse(parseJson(text), () => null)
  if (!Predicate.isRecord(body)) return makeExcerpt(text) || "it gave no reason"
  const message = [body["message"], body["error"]].find((said) => Predicate.isString(said) && said !== "")
  const fields = refusedFields(body["errors"])
  if (message === undefined && fields.length === 0) return makeExcerpt(text)
  const said = Predicate.isString(message) ? message : "refused"
  return fields.length === 0 ? said : `${said} (${fields.join("; ")})`
}
