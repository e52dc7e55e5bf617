import { Either, type ParseResult, Predicate, type SchemaAST } from "effect"
import { describeIssues, type Vocabulary } from "./describeIssues.ts"
import { formatList, listRequiredFields } from "./expected.ts"
import { collectValidationIssues, makeSentenceIssue } from "./validationIssues.ts"

const noBody = (issue: ParseResult.ParseIssue) => {
  const names = "ast" in issue && issue._tag !== "Missing" ? listRequiredFields(issue.ast) : []
  return `A JSON body is required${names.length === 0 ? "" : `, with ${formatList(names, "and")}`}`
}

const told = (vocabulary: Vocabulary) => (issue: ParseResult.ParseIssue) =>
  Either.left(makeSentenceIssue(
    Predicate.isNullable(issue.actual) ? noBody(issue) : describeIssues(collectValidationIssues(issue), vocabulary)
  ))

const everyMistake: SchemaAST.ParseOptions = { errors: "all", onExcessProperty: "error" }

const strictAs = (vocabulary: Vocabulary) => ({ parseOptions: everyMistake, decodingFallback: told(vocabulary) })

/** Annotations for a request body: refuses unknown fields and reports all mistakes at once. */
export const strictBody = strictAs({ whole: "The request", part: "field" })

/** Annotations for a request query: refuses unknown parameters and reports all mistakes at once. */
export const strictQuery = strictAs({ whole: "The query", part: "query parameter" })
