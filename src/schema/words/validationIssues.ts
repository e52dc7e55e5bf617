import { Array, Effect, Option, ParseResult, Predicate, Schema, SchemaAST } from "effect"
import { describeExpected, describeLimit, isNothing, listSchemaFields } from "./expected.ts"

/** ValidationIssue in a text of the user: its place and its reason, never the value. */
export interface ValidationIssue {
  readonly path: ReadonlyArray<PropertyKey>
  readonly kind: "missing" | "unknown" | "wrong" | "told"
  /** Predicate for the field's name; for `told` mistakes, the whole sentence. */
  readonly words: string
  /** Known fields of the object that contains an unknown one. */
  readonly known: ReadonlyArray<string>
}

/** Marks an issue whose message is a whole sentence already. */
const told = Schema.Never.annotations({ identifier: "Told" }).ast

/** Creates an issue that is reported as this sentence, without its context. */
export const makeSentenceIssue = (sentence: string): ParseResult.ParseIssue =>
  new ParseResult.Type(told, undefined, sentence)

type Path = ValidationIssue["path"]
const wrong = (path: Path, words: string): ReadonlyArray<ValidationIssue> => [{ path, kind: "wrong", words, known: [] }]

/** Message annotation of a schema; `always` when it overrides nested issues too. */
const annotated = (ast: SchemaAST.Annotated, issue: ParseResult.ParseIssue) =>
  Option.map(SchemaAST.getMessageAnnotation(ast), (annotation) => {
    const message = annotation(issue)
    if (Predicate.isString(message)) return { words: message, always: false }
    if (Effect.isEffect(message)) return { words: "is not valid", always: false }
    return Predicate.isString(message.message)
      ? { words: message.message, always: message.override }
      : { words: "is not valid", always: false }
  })

/** Selects the first union member whose issues concern the inside of the value; else describes all members. */
const unionIssues = (
  union: SchemaAST.Union,
  issues: ReadonlyArray<ParseResult.ParseIssue>,
  path: Path
): ReadonlyArray<ValidationIssue> => {
  const inside = issues.map((issue) => issuesAt(issue, path)).filter((mistakes) =>
    mistakes.some((mistake) => mistake.kind !== "wrong" || mistake.path.length > path.length)
  )
  const [first] = inside
  if (first !== undefined) return first
  const [only, ...others] = issues.filter((issue) => "ast" in issue && "_tag" in issue.ast && !isNothing(issue.ast))
  return only !== undefined && others.length === 0 ? issuesAt(only, path) : wrong(path, describeExpected(union))
}

const issuesAt = (issue: ParseResult.ParseIssue, path: Path): ReadonlyArray<ValidationIssue> => {
  switch (issue._tag) {
    case "Pointer": {
      return issuesAt(issue.issue, [...path, ...Array.ensure<PropertyKey>(issue.path)])
    }
    case "Missing":
      return [{ path, kind: "missing", words: "is missing", known: [] }]
    case "Unexpected":
      return [{ path, kind: "unknown", words: "is not a known field", known: [] }]
    case "Forbidden":
      return wrong(path, "cannot be read")
    case "Type": {
      if (issue.ast === told) return [{ path, kind: "told", words: issue.message ?? "", known: [] }]
      const own = annotated(issue.ast, issue)
      return wrong(
        path,
        Option.match(own, {
          onNone: () => issue.message ?? describeExpected(issue.ast),
          onSome: ({ words }) => words
        })
      )
    }
    case "Refinement": {
      const own = annotated(issue.ast, issue)
      if (Option.isSome(own) && (own.value.always || issue.kind === "Predicate")) return wrong(path, own.value.words)
      if (issue.kind === "From") {
        const isPlain = issue.issue._tag === "Type" && issue.issue.message === undefined
        const hasWords = "ast" in issue.issue && Option.isSome(SchemaAST.getMessageAnnotation(issue.issue.ast))
        return isPlain && !hasWords ? wrong(path, describeExpected(issue.ast)) : issuesAt(issue.issue, path)
      }
      const said = "message" in issue.issue ? issue.issue.message : undefined
      return issue.issue._tag === "Composite"
        ? issuesAt(issue.issue, path)
        : wrong(path, said ?? describeLimit(issue.ast))
    }
    case "Transformation": {
      const own = Option.filter(annotated(issue.ast, issue), ({ always }) => always || issue.kind === "Transformation")
      return Option.match(own, {
        onNone: () => issuesAt(issue.issue, path),
        onSome: ({ words }) => wrong(path, words)
      })
    }
    case "Composite": {
      const own = Option.filter(annotated(issue.ast, issue), ({ always }) => always)
      if (Option.isSome(own)) return wrong(path, own.value.words)
      const issues = Array.ensure<ParseResult.ParseIssue>(issue.issues)
      if (SchemaAST.isUnion(issue.ast)) return unionIssues(issue.ast, issues, path)
      // Empty list that requires an element.
      if (SchemaAST.isTupleType(issue.ast) && issues.some((each) => isMissing(each))) {
        return wrong(path, "must not be empty")
      }
      const known = listSchemaFields(issue.ast)
      return issues.flatMap((each) => issuesAt(each, path)).map((mistake) =>
        mistake.kind === "unknown" && mistake.path.length === path.length + 1 ? { ...mistake, known } : mistake
      )
    }
  }
}

const isMissing = (issue: ParseResult.ParseIssue) => issue._tag === "Pointer" && issue.issue._tag === "Missing"

/** Lists all mistakes of an issue, in the order of discovery. */
export const collectValidationIssues = (issue: ParseResult.ParseIssue): ReadonlyArray<ValidationIssue> =>
  issuesAt(issue, [])
