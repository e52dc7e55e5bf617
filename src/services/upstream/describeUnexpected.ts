import type { ParseResult } from "effect"
import { formatPath } from "../../schema/words/describeIssues.ts"
import { collectValidationIssues } from "../../schema/words/validationIssues.ts"

/** Describes the mismatch in a response: `answered something unexpected: [0].uuid is missing`. */
export const describeUnexpected = ({ issue }: ParseResult.ParseError): string => {
  const [mistake] = collectValidationIssues(issue)
  const place = formatPath(mistake?.path ?? [])
  return `answered something unexpected: ${place === "" ? "it" : place} ${mistake?.words ?? "does not fit"}`
}
