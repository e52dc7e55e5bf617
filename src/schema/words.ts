import { Option, Predicate, SchemaAST } from "effect"

// Characters that affect only presentation and can hide a message: variation selectors, tags, and joiners within emoji
// or scripts that need them.
const presentation = /[\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0000}-\u{e0fff}]|(?<=\P{ASCII})[\u200c\u200d]/gu

// Control characters, line separators, lone surrogates, annotations, and invisible characters: direction marks,
// zero-width spaces, fillers, soft hyphens.
const unsafe = /[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu

const named: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }

// Escapes UTF-16 code units, so that JSON stays valid.
const inWords = (sign: string): string =>
  named[sign] ?? sign.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")

/**
 * Escapes untrusted text for users and agents: characters that would move the cursor, end a line, change the direction
 * or stay invisible become `\n` or `\u001b`. Joined emoji are split.
 * @param kept control characters to keep
 */
export const escapeText = (text: string, kept = ""): string =>
  text.replace(presentation, "").replace(unsafe, (sign) => kept.includes(sign) ? sign : inWords(sign))

const colors = /\u001b\[[\d;]*m|\r(?=\n|$)/g

/** Escapes untrusted text of several lines: removes colors, keeps line breaks and tabs. */
export const escapeTextLines = (text: string): string => escapeText(text.replace(colors, ""), "\t\n")

/** `a`, `a or b`, `a, b or c`. */
export const formatList = (words: ReadonlyArray<string>, conjunction: "and" | "or"): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${conjunction} ${words[words.length - 1]}`

/** True for schemas that accept only null or an absent value. */
export const isNothing = (ast: SchemaAST.AST): boolean =>
  SchemaAST.isUndefinedKeyword(ast) || (SchemaAST.isLiteral(ast) && ast.literal === null) ||
  (SchemaAST.isUnion(ast) && ast.types.every(isNothing))

/** Flattened members of a union, without null and undefined. */
const choicesOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> =>
  SchemaAST.isUnion(ast) ? ast.types.flatMap(choicesOf) : isNothing(ast) ? [] : [ast]

/** Encoded side of a schema, below refinements and transformations. */
const written = (ast: SchemaAST.AST): SchemaAST.AST =>
  SchemaAST.isRefinement(ast) || SchemaAST.isTransformation(ast)
    ? written(ast.from)
    : SchemaAST.isSuspend(ast)
    ? written(ast.f())
    : ast

const signaturesOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.PropertySignature> => {
  const object = written(ast)
  return SchemaAST.isTypeLiteral(object) && object.indexSignatures.length === 0 ? object.propertySignatures : []
}

/** Names of an object's fields; empty if any field is allowed. */
export const listSchemaFields = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  signaturesOf(ast).map(({ name }) => String(name))

/** Names of an object's required fields; all fields if none is required. */
export const listRequiredFields = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  const needed = signaturesOf(ast).filter(({ isOptional }) => !isOptional).map(({ name }) => String(name))
  return needed.length === 0 ? listSchemaFields(ast) : needed
}

const ofFields = (ast: SchemaAST.AST) => {
  const names = listSchemaFields(ast)
  return names.length === 0 ? "" : ` with ${formatList(names, "and")}`
}

const isWhole = (ast: SchemaAST.AST): boolean =>
  SchemaAST.isRefinement(ast) && (
    Option.exists(SchemaAST.getJSONSchemaAnnotation(ast), (json) => "type" in json && json["type"] === "integer") ||
    isWhole(ast.from)
  )

const literalsOf = (asts: ReadonlyArray<SchemaAST.AST>) =>
  asts.flatMap((ast) => SchemaAST.isLiteral(ast) && Predicate.isString(ast.literal) ? [ast.literal] : [])

const many = (ast: SchemaAST.AST): string => {
  const choices = choicesOf(written(ast))
  const literals = literalsOf(choices)
  const [only] = choices
  if (literals.length > 0) return formatList(literals, "or")
  if (choices.length !== 1 || only === undefined) return formatList(choices.map(many), "or")
  const kind = written(only)
  if (SchemaAST.isStringKeyword(kind)) return "strings"
  if (SchemaAST.isNumberKeyword(kind)) return isWhole(only) ? "whole numbers" : "numbers"
  return SchemaAST.isTypeLiteral(kind) ? `objects${ofFields(kind)}` : "values"
}

const one = (ast: SchemaAST.AST): string => {
  const kind = written(ast)
  if (SchemaAST.isUnion(kind)) return formatList([...new Set(choicesOf(kind).map(one))], "or")
  if (SchemaAST.isStringKeyword(kind)) return "a string"
  if (SchemaAST.isNumberKeyword(kind)) return isWhole(ast) ? "a whole number" : "a number"
  if (SchemaAST.isBooleanKeyword(kind)) return "true or false"
  if (SchemaAST.isLiteral(kind)) return String(kind.literal)
  if (SchemaAST.isTypeLiteral(kind)) return `an object${ofFields(kind)}`
  if (!SchemaAST.isTupleType(kind)) return "another value"
  const [element] = [...kind.elements, ...kind.rest]
  return element === undefined ? "a list" : `a list of ${many(element.type)}`
}

/** Describes the expected value: `must be a list of strings`, `must be file or directory`. */
export const describeExpected = (ast: SchemaAST.AST): string => `must be ${one(ast)}`

type Bounds = { readonly [name: string]: unknown }

const limits = (json: Bounds): string | undefined => {
  const { exclusiveMinimum, maxItems, maxLength, maximum, minItems, minLength, minimum } = json
  if (minLength === 1 || minItems === 1) return "must not be empty"
  if (Predicate.isNumber(minLength)) return `must have at least ${minLength} characters`
  if (Predicate.isNumber(maxLength)) return `must have at most ${maxLength} characters`
  if (Predicate.isNumber(minItems)) return `must have at least ${minItems} items`
  if (Predicate.isNumber(maxItems)) return `must have at most ${maxItems} items`
  if (Predicate.isNumber(minimum) && Predicate.isNumber(maximum)) return `must be from ${minimum} to ${maximum}`
  if (Predicate.isNumber(minimum)) return minimum === 0 ? "must not be negative" : `must be at least ${minimum}`
  if (Predicate.isNumber(maximum)) return `must be at most ${maximum}`
  return Predicate.isNumber(exclusiveMinimum) ? `must be more than ${exclusiveMinimum}` : undefined
}

/** Describes the limit that a value of the right type violates, if the refinement declares one. */
export const describeLimit = (ast: SchemaAST.Refinement): string =>
  Option.match(SchemaAST.getJSONSchemaAnnotation(ast), {
    onNone: () => undefined,
    onSome: (json) => limits({ ...json })
  }) ?? (isWhole(ast) ? "must be a whole number" : "is not valid")

/** Stands for a value that the caller may not see. */
export const mask = "***"

const units = ["B", "kB", "MB", "GB", "TB"] as const

/** Writes a number of bytes for readers, the same in plans, results and on the page: `12.3 MB`. */
export const formatBytes = (count: number): string => {
  const exponent = count < 1_000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(count) / 3))
  const value = count / 1_000 ** exponent
  return `${exponent === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[exponent] ?? "B"}`
}

/** Formats a share: `12.3 %`. */
export const formatPercent = (value: number): string => `${value.toFixed(1)} %`

const ages = [["day", 86_400], ["hour", 3_600], ["minute", 60], ["second", 1]] as const

/** Formats an age in milliseconds: `3 minutes ago`. */
export const formatAge = (millis: number): string => {
  const seconds = Math.floor(millis / 1_000)
  const [unit, size] = ages.find(([, size]) => seconds >= size) ?? ["second", 1]
  const count = Math.floor(seconds / size)
  return count === 0 ? "just now" : `${count} ${unit}${count === 1 ? "" : "s"} ago`
}

/** Formats a duration: `1.2 s`, `3 min 5 s`. */
export const formatDuration = (millis: number): string => {
  if (millis < 60_000) return `${(millis / 1_000).toFixed(1)} s`
  const seconds = Math.floor(millis / 1_000)
  return seconds < 3_600
    ? `${Math.floor(seconds / 60)} min ${seconds % 60} s`
    : `${Math.floor(seconds / 3_600)} h ${Math.floor(seconds % 3_600 / 60)} min`
}

/** Formats a duration by its largest unit: `0.4 s`, `12 s`, `3 min`, `2 h`, `5 d`. */
export const formatRoundDuration = (millis: number): string => {
  const seconds = Math.max(0, millis) / 1_000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 90) return `${Math.round(seconds)} s`
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`
  return seconds < 36 * 3_600 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`
}

const normalized = (text: string) => text.toLowerCase().replaceAll(/[-_]/g, "")

/** Damerau-Levenshtein distance: insertions, deletions, replacements and swaps of neighbours. */
const editDistance = (a: string, b: string): number => {
  let beforeLast: ReadonlyArray<number> = []
  let last: ReadonlyArray<number> = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1]
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      current.push(Math.min(
        (last[column] ?? Infinity) + 1,
        (current[column - 1] ?? Infinity) + 1,
        (last[column - 1] ?? Infinity) + (isSame ? 0 : 1),
        isSwap ? (beforeLast[column - 2] ?? Infinity) + 1 : Infinity
      ))
    }
    beforeLast = last
    last = current
  }
  return last[b.length] ?? Infinity
}

/** Longer words are not compared, to bound the work for any input. */
const longest = 64

/**
 * Finds the known word closest to `word`, ignoring case, hyphens and underscores. Allows one typo for every three
 * characters, and at least one; undefined if no word is that close.
 */
export const findNearest = (word: string, known: ReadonlyArray<string>): string | undefined => {
  if (word.length > longest) return undefined
  const written = normalized(word)
  const most = Math.max(1, Math.floor(written.length / 3))
  const [best] = known
    .map((name) => ({ name, distance: editDistance(written, normalized(name)) }))
    .filter(({ distance, name }) => distance <= most && distance < normalized(name).length)
    .toSorted((a, b) => a.distance - b.distance)
  return best?.name
}

/** Suggestion for the end of a sentence, such as ` Did you mean "domain"?`; empty if no known word is close. */
export const suggestNearest = (word: string, known: ReadonlyArray<string>): string => {
  const meant = findNearest(word, known)
  return meant === undefined ? "" : ` Did you mean "${meant}"?`
}

/** Formats a time as the local time of day: `12:03:04`. */
export const formatTimeOfDay = (time: Date): string => time.toTimeString().slice(0, 8)

/** Formats a count with its noun: `1 file`, `2 files`. */
export const pluralize = (number: number, one: string, several = `${one}s`): string =>
  `${number} ${number === 1 ? one : several}`

const longestQuote = 150

/** Shortens a long path or name for a message by cutting out its middle. */
export const cut = (text: string): string =>
  text.length <= longestQuote ? text : `${text.slice(0, longestQuote / 2 - 1)}…${text.slice(-longestQuote / 2)}`

const longestWord = 300

/** Shortens very long words of a message, such as names or paths in user input. */
export const withShortWords = (message: string): string =>
  message.replaceAll(/\S+/g, (word) => word.length > longestWord ? cut(word) : word)

/** Quotes user input for a message: in double quotes, on one line, truncated. */
export const quoteInput = (text: string): string => {
  const whole = JSON.stringify(text.slice(0, longestQuote + 1))
  return whole.length <= longestQuote + 2 ? whole : `${whole.slice(0, longestQuote).replace(/\\[^"\\]*$/, "")}…"`
}

/**
 * Appends a sentence to text that may be foreign, adding a missing full stop. Returns the text unchanged if the
 * sentence is empty.
 */
export const appendSentence = (words: string, sentence: string): string => {
  const end = words.trimEnd()
  return sentence === "" ? words : `${end}${/[.!?]$/.test(end) ? "" : "."} ${sentence}`
}
