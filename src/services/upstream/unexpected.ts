import { ParseResult } from "effect"

/** In words, what of an answer does not fit: `answered something unexpected at 0.uuid: is missing`. */
export const unexpected = (error: ParseResult.ParseError): string => {
  const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
  const field = issue?.path.map(String).join(".") ?? ""
  const at = field === "" ? "" : ` at ${field}`
  return `answered something unexpected${at}: ${(issue?.message ?? error.message).slice(0, 300)}`
}
