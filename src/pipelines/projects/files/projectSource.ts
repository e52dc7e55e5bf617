import { Effect, Either, type ParseResult, Predicate } from "effect"
import { isNode } from "yaml"
import { ProjectFileInvalid } from "../../../schema/projects/Project.ts"
import { describeIssues, type Vocabulary } from "../../../schema/words/describeIssues.ts"
import { collectValidationIssues } from "../../../schema/words/validationIssues.ts"
import { locateJsonValue, parseJson } from "../../../services/parsing/json.ts"
import type { ParseProblem, TextPosition } from "../../../services/parsing/ParseProblem.ts"
import { parseYaml } from "../../../services/parsing/yaml.ts"

type Path = ReadonlyArray<PropertyKey>

/** A parsed file of a project, with the position of each part. */
export interface ProjectSource {
  readonly file: string
  readonly content: unknown
  /** Position of a part, or of its nearest existing parent. */
  readonly placeAt: (path: Path) => TextPosition | undefined
}

const unparsed = (file: string, format: string) => ({ column, line, reason }: ParseProblem) =>
  new ProjectFileInvalid({ file, place: { line, column }, reason: `is not valid ${format}: ${reason}` })

/** A mistake in a part of a file, with line and column. */
export const makeInvalidAt = (
  { file, placeAt }: Pick<ProjectSource, "file" | "placeAt">,
  path: Path,
  reason: string
): ProjectFileInvalid => {
  const place = placeAt(path)
  return new ProjectFileInvalid({ file, reason, ...place === undefined ? {} : { place } })
}

/** Parses a JSON file; the error names line and column of the first mistake. */
export const parseJsonSource = (file: string, text: string): Either.Either<ProjectSource, ProjectFileInvalid> =>
  Either.mapBoth(parseJson(text), {
    onLeft: unparsed(file, "JSON"),
    onRight: (content) => ({ file, content, placeAt: (path) => locateJsonValue(text, path) })
  })

/** Parses a YAML file; the error names line and column of the first mistake. */
export const parseYamlSource = (file: string, text: string): Either.Either<ProjectSource, ProjectFileInvalid> =>
  Either.flatMap(
    Either.mapLeft(parseYaml(text, { merge: true }), unparsed(file, "YAML")),
    ({ document, placeAt: offsetPlace }) => {
      const placeAt = (path: Path): TextPosition | undefined => {
        for (let length = path.length; length >= 0; length--) {
          const node = document.getIn(path.slice(0, length), true)
          if (isNode(node) && Predicate.isNotNullable(node.range)) return offsetPlace(node.range[0])
        }
        return undefined
      }
      return Either.try({
        try: () => ({ file, content: document.toJS() as unknown, placeAt }),
        catch: (cause) =>
          makeInvalidAt({ file, placeAt }, [], cause instanceof Error ? cause.message : "cannot be read")
      })
    }
  )

/** Decodes a part of a file; reports every mismatch, with the position of the first. */
export const decodePart = <A>(
  source: Pick<ProjectSource, "file" | "placeAt">,
  path: Path,
  decoded: Effect.Effect<A, ParseResult.ParseError>,
  vocabulary: Vocabulary,
  label = ""
): Effect.Effect<A, ProjectFileInvalid> =>
  Effect.mapError(decoded, ({ issue }) => {
    const mistakes = collectValidationIssues(issue)
    // The message lists unknown fields last.
    const firstTold = mistakes.find(({ kind }) => kind !== "unknown") ?? mistakes[0]
    return makeInvalidAt(source, [...path, ...firstTold?.path ?? []], `${label}${describeIssues(mistakes, vocabulary)}`)
  })
