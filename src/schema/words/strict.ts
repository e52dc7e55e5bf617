import { Either, type ParseResult, Predicate, type SchemaAST } from "effect"
import { listed, neededFieldsOf } from "./expected.ts"
import { inWords, type Vocabulary } from "./inWords.ts"
import { mistakesIn, tellingIssue } from "./mistakes.ts"

const noBody = (issue: ParseResult.ParseIssue) => {
  const names = "ast" in issue && issue._tag !== "Missing" ? neededFieldsOf(issue.ast) : []
  return `A JSON body is required${names.length === 0 ? "" : `, with ${listed(names, "and")}`}`
}

const told = (vocabulary: Vocabulary) => (issue: ParseResult.ParseIssue) =>
  Either.left(tellingIssue(
    Predicate.isNullable(issue.actual) ? noBody(issue) : inWords(mistakesIn(issue), vocabulary)
  ))

const everyMistake: SchemaAST.ParseOptions = { errors: "all", onExcessProperty: "error" }

const strictAs = (vocabulary: Vocabulary) => ({ parseOptions: everyMistake, decodingFallback: told(vocabulary) })

/** Annotations for the body of a request: unknown fields are refused, and all mistakes are reported at once. */
export const strictBody = strictAs({ whole: "The request", part: "field" })

/** The same for the query of a request. */
export const strictQuery = strictAs({ whole: "The query", part: "query parameter" })
