import type { ParseResult } from "effect"
import { formatList } from "./expected.ts"
import { findNearest } from "./nearest.ts"
import { quoteInput } from "./quoted.ts"
import { collectValidationIssues, type ValidationIssue } from "./validationIssues.ts"

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
