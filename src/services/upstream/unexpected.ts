import type { ParseResult } from "effect"
import { formatPath } from "../../schema/words/inWords.ts"
import { mistakesIn } from "../../schema/words/mistakes.ts"

/** In words, what of an answer does not fit: `answered something unexpected: [0].uuid is missing`. */
export const unexpected = ({ issue }: ParseResult.ParseError): string => {
  const [mistake] = mistakesIn(issue)
  const place = formatPath(mistake?.path ?? [])
  return `answered something unexpected: ${place === "" ? "it" : place} ${mistake?.words ?? "does not fit"}`
}
