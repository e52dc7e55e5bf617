import { Array as Arr, Effect, Either, Option, ParseResult, Predicate, Schema, SchemaAST } from "effect"
import {
  describeExpected,
  describeLimit,
  findNearest,
  formatList,
  isNothing,
  listRequiredFields,
  listSchemaFields,
  quoteInput
} from "./words.ts"

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
const makeSentenceIssue = (sentence: string): ParseResult.ParseIssue => new ParseResult.Type(told, undefined, sentence)

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
      return issuesAt(issue.issue, [...path, ...Arr.ensure<PropertyKey>(issue.path)])
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
      const issues = Arr.ensure<ParseResult.ParseIssue>(issue.issues)
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

/** Nouns for the subject of a message and its parts. */
export interface Vocabulary {
  /** Noun for the whole: `The request`. */
  readonly whole: string
  /** Noun for its parts: `field`, `parameter`, `setting`. */
  readonly part: string
}

const mostTold = 10
const plainName = /^[A-Za-z_$][\w$-]{0,59}$/

const nameOf = (key: PropertyKey): string => {
  const text = String(key)
  return plainName.test(text) ? text : quoteInput(text.slice(0, 60))
}

/** Formats a path as in the file or body: `files[0].name`. */
export const formatPath = (path: ReadonlyArray<PropertyKey>): string =>
  path.map((key, index) =>
    typeof key === "number" || /^\d+$/.test(String(key))
      ? `[${String(key)}]`
      : `${index === 0 ? "" : "."}${nameOf(key)}`
  ).join("")

const isOrAre = (names: ReadonlyArray<string>) => (names.length === 1 ? "is" : "are")

const wrongWords = (mistakes: ReadonlyArray<ValidationIssue>, { whole }: Vocabulary): ReadonlyArray<string> =>
  mistakes.map(({ kind, path, words }) =>
    kind === "told" ? words : `${path.length === 0 ? whole : formatPath(path)} ${words}`
  )

/** Describes the unknown parts of one object, with suggestions and the known parts. */
const unknownWords = (mistakes: ReadonlyArray<ValidationIssue>, { part }: Vocabulary): string => {
  const [first] = mistakes
  const known = first?.known ?? []
  const each = mistakes.map(({ path }) => {
    const meant = findNearest(String(path[path.length - 1]), known)
    return `${formatPath(path)} is not a known ${part}.${meant === undefined ? "" : ` Did you mean "${meant}"?`}`
  })
  const place = formatPath(first?.path.slice(0, -1) ?? [])
  const of = place === "" ? "" : ` of ${place}`
  const there = known.length === 0 ? `There are no ${part}s${of}` : `Known ${part}s${of}: ${known.join(", ")}`
  return [...each, there].join(" ")
}

const groupedBy = <A>(items: ReadonlyArray<A>, key: (item: A) => string): ReadonlyArray<ReadonlyArray<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const item of items) groups.set(key(item), [...groups.get(key(item)) ?? [], item])
  return [...groups.values()]
}

/**
 * Combines mistakes in one message: missing fields, invalid ones, then unknown ones with the closest known name and all
 * known names. Never shows a value.
 */
export const describeIssues = (mistakes: ReadonlyArray<ValidationIssue>, vocabulary: Vocabulary): string => {
  const shown = mistakes.slice(0, mostTold)
  const missing = shown.filter(({ kind }) => kind === "missing").map(({ path }) => formatPath(path))
  const wrong = shown.filter(({ kind }) => kind === "wrong" || kind === "told")
  const unknown = shown.filter(({ kind }) => kind === "unknown")
  const first = [
    ...(missing.length === 0 ? [] : [`${formatList(missing, "and")} ${isOrAre(missing)} missing`]),
    ...wrongWords(wrong, vocabulary)
  ].join("; ")
  const others = groupedBy(unknown, ({ path }) => formatPath(path.slice(0, -1))).map((group) =>
    unknownWords(group, vocabulary)
  )
  const more = mistakes.length > mostTold ? [`There are ${mistakes.length - mostTold} more mistakes`] : []
  return [first, ...others, ...more].filter((words) => words !== "").join(". ")
}

/** Describes a parse error. */
export const describeParseError = ({ issue }: ParseResult.ParseError, vocabulary: Vocabulary): string =>
  describeIssues(collectValidationIssues(issue), vocabulary)

const describeWithExamples = <A>(description: string, [first, ...others]: ReadonlyArray<A>) =>
  first === undefined ? { description } : { description, examples: [first, ...others] as const }

/** String with a description and examples for the API. */
export const text = (description: string, ...examples: ReadonlyArray<string>) =>
  Schema.String.annotations(describeWithExamples(description, examples))

/** Nullable string with a description and examples for the API. */
export const textOrNull = (description: string, ...examples: ReadonlyArray<string>) =>
  Schema.NullOr(Schema.String).annotations(describeWithExamples(description, examples))

/** Number with a description and examples for the API. */
export const number = (description: string, ...examples: ReadonlyArray<number>) =>
  Schema.Number.annotations(describeWithExamples(description, examples))

/** Boolean with a description for the API. */
export const flag = (description: string) => Schema.Boolean.annotations({ description })

/** List of strings with a description and examples for the API. */
export const texts = (description: string, ...examples: ReadonlyArray<ReadonlyArray<string>>) =>
  Schema.Array(Schema.String).annotations(describeWithExamples(description, examples))

/** Field with a named schema; the description is specific to the field. */
export const field = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.propertySignature(schema).annotations({ description })

/** Discriminator of answers that can only be a success. */
export const done = Schema.Literal(true).annotations({
  description: "It was done: what fails is answered with an error."
})

/** Absolute path of a project's directory, in requests. */
export const projectPath = text(
  "The absolute path of the project's directory on this machine.",
  "/home/ann/projects/hello"
)

/** Reference to a stored server, in requests. */
export const serverId = text("The id or the name of a stored server.", "1")

/** Reference to a stored server, in responses. */
export const storedServerId = text("The id of a stored server.", "1")

const noBody = (issue: ParseResult.ParseIssue) => {
  const names = "ast" in issue && issue._tag !== "Missing" ? listRequiredFields(issue.ast) : []
  return `A JSON body is required${names.length === 0 ? "" : `, with ${formatList(names, "and")}`}`
}

const describeMistakes = (vocabulary: Vocabulary) => (issue: ParseResult.ParseIssue) =>
  Either.left(makeSentenceIssue(
    Predicate.isNullable(issue.actual) ? noBody(issue) : describeIssues(collectValidationIssues(issue), vocabulary)
  ))

const everyMistake: SchemaAST.ParseOptions = { errors: "all", onExcessProperty: "error" }

const strictAs = (vocabulary: Vocabulary) => ({
  parseOptions: everyMistake,
  decodingFallback: describeMistakes(vocabulary)
})

/** Annotations for a request body: refuses unknown fields and reports all mistakes at once. */
export const strictBody = strictAs({ whole: "The request", part: "field" })

/** Annotations for a request query: refuses unknown parameters and reports all mistakes at once. */
export const strictQuery = strictAs({ whole: "The query", part: "query parameter" })

/** A text that bounds the settings file, which is read again for each request. */
export const ShortText = Schema.String.pipe(
  Schema.maxLength(4_096, { message: () => "must not be longer than 4096 characters" })
)

/** Identifier and description of remote paths. */
export const describedPath = {
  identifier: "RemotePath",
  description:
    "A path on the server: absolute, or below the user's home as ~/…; without \"..\", line breaks and NUL, " +
    "and of at most 4 KiB."
}

/** Remote path in a request body; validated later, so that an unknown server is reported first. */
export const RemotePathText = Schema.String.annotations(describedPath)
