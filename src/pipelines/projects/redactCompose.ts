import { Effect, Either, Option, Predicate } from "effect"
import { isAlias, isMap, isNode, isPair, isScalar, isSeq, Lexer, type Node, type Pair, type Scalar } from "yaml"
import { hostPortKey } from "../../schema/declaredFields.ts"
import { mask } from "../../schema/words.ts"
import { CurrentCaller } from "../../services/access/Caller.ts"
import { maySeeValues } from "../../services/access/rights.ts"
import { mayBeCredentialName, scrubSecrets } from "../../services/masking.ts"
import { parseYaml } from "../../services/parsing.ts"
import type { Settings } from "../../services/settings/Settings.ts"

/** `NAME=value` or `NAME: value`; a name only matches from its first letter, so that long texts are scanned once. */
const assignment = /(?<![\w.-])([A-Za-z_][\w.-]*)["']?(\s*=\s*|\s*:\s+)(?=\S)/g
const isVariableName = (name: string) => /^[A-Z_][A-Z0-9_]*$/.test(name)

/** Index of the value in a commented-out assignment; undefined for prose. */
const valueIn = (comment: string): number | undefined => {
  for (const { 0: all, 1: name = "", 2: sign = "", index } of comment.matchAll(assignment)) {
    const isVariable = sign.includes("=") || isVariableName(name)
    if (name !== hostPortKey && (isVariable || mayBeCredentialName(name))) return index + all.length
  }
  return undefined
}

/** Control marks of the parser's lexer, which do not correspond to characters of the text. */
const marks = new Set(["\u0002", "\u0018", "\u001f"])

/** Part of a text, from its first character to behind its last one. */
interface Range {
  readonly from: number
  readonly to: number
}

/** Finds the comments of a YAML text, from their `#`. */
const listComments = (text: string): ReadonlyArray<Range> => {
  const found: Array<Range> = []
  let at = 0
  let before = ""
  for (const token of new Lexer().lex(text)) {
    if (!marks.has(token)) {
      // A scalar may also begin with `#`.
      if (token.startsWith("#") && before !== "\u001f") found.push({ from: at, to: at + token.trimEnd().length })
      at += token.length
    }
    before = token
  }
  return found
}

/**
 * Finds values of variables, and credentials by their names, in the comments of a YAML text: a commented-out line often
 * contains a value that is still valid.
 */
const findCommentedValues = (text: string): ReadonlyArray<Range> =>
  listComments(text).flatMap(({ from, to }) => {
    const value = valueIn(text.slice(from, to))
    return value === undefined ? [] : [{ from: from + value, to }]
  })

/** Sections that contain values of variables or whole files, also within `x-…` sections that other sections reuse. */
const valueSections = ["environment", "args", "content"]
/** True if a value only references a variable, which is defined elsewhere. */
const isReference = (text: string) => /^\$(?:\w+|\{\w+\})$/.test(text)

interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** `password=…` within a longer text, such as the options of a volume's driver. */
const credential = /(?<![\w.-])([\w.-]+)=([^\s,;&"'*]+)/g
const hideCredentials = (written: string) =>
  written.replace(
    credential,
    (whole, key: string, value: string) => mayBeCredentialName(key) && !isReference(value) ? `${key}=${mask}` : whole
  )

/** Replaces a scalar in the text; keeps the line break at the end of a block. */
const masked = ({ range }: Scalar, text: string, by: (value: string) => string): ReadonlyArray<Edit> => {
  if (range === undefined || range === null) return []
  const [from, to] = range
  const written = text.slice(from, to)
  const next = by(written)
  return next === written ? [] : [{ from, to, text: written.endsWith("\n") ? `${next}\n` : next }]
}

/** Masks the value of a `KEY=value` list item, quoted or not, if it is a variable's or has the name of a credential. */
const itemEdits = (node: Scalar, text: string, isValue: boolean): ReadonlyArray<Edit> => {
  const { value } = node
  const [, key = "", rest = ""] = Predicate.isString(value) ? /^([^=]*)=([^]*)$/.exec(value) ?? [] : []
  const isShown = rest === "" || isReference(rest) || key === hostPortKey
  if (isShown || !(isValue || mayBeCredentialName(key))) return masked(node, text, hideCredentials)
  return masked(
    node,
    text,
    (written) => `${written.slice(0, written.indexOf("=") + 1)}${mask}${/["']$/.exec(written)?.[0] ?? ""}`
  )
}

const editsIn = (contents: unknown, text: string): ReadonlyArray<Edit> => {
  const edits: Array<Edit> = []
  // Several aliases may refer to one node; masking it once covers all of them.
  const seen = new Map<unknown, boolean>()
  // Anchors precede their aliases. The parser's own lookup walks the document for each alias.
  const anchors = new Map<string, Node>()
  const visitNode = (node: unknown, isValue: boolean, key: string): void => {
    if (!isNode(node)) return
    if (isAlias(node)) return visitNode(anchors.get(node.source), isValue, key)
    if (node.anchor !== undefined) anchors.set(node.anchor, node)
    if (seen.get(node) === true || (seen.has(node) && !isValue)) return
    seen.set(node, isValue)
    if (isMap(node)) return node.items.forEach((pair) => visitPair(pair, isValue))
    if (isSeq(node)) {
      return node.items.forEach((item) => {
        // Ordered maps are lists of pairs.
        if (isPair(item)) visitPair(item, isValue)
        else if (isScalar(item)) edits.push(...itemEdits(item, text, isValue))
        else visitNode(item, isValue, "")
      })
    }
    if (!isScalar(node) || node.value === null || node.value === "") return
    const isShown = key === hostPortKey || Predicate.isBoolean(node.value) || isReference(String(node.value))
    if (!isShown && (isValue || mayBeCredentialName(key))) edits.push(...masked(node, text, () => mask))
    else if (!isShown) edits.push(...masked(node, text, hideCredentials))
  }
  /** Name of a pair, whose key may be an alias or have an anchor of its own. */
  const nameOf = ({ key }: Pair): string => {
    if (isNode(key) && !isAlias(key) && key.anchor !== undefined) anchors.set(key.anchor, key)
    const node = isAlias(key) ? anchors.get(key.source) : key
    return isScalar(node) && Predicate.isString(node.value) ? node.value : ""
  }
  const visitPair = (pair: unknown, isValue: boolean): void => {
    if (!isPair(pair)) return
    const key = nameOf(pair)
    visitNode(pair.value, isValue || valueSections.includes(key), key)
  }
  visitNode(contents, false, "")
  return edits
}

/** Masks the whole comment behind a masked value on its line: it may have a former one. */
const maskTrailing = (
  text: string,
  edits: ReadonlyArray<Edit>,
  comments: ReadonlyArray<Range>
): ReadonlyArray<Edit> => {
  const ends = edits.map(({ to }) => to).toSorted((a, b) => a - b)
  return comments.flatMap(({ from, to }) => {
    const line = text.lastIndexOf("\n", from) + 1
    return ends.some((end) => end > line && end <= from) ? [{ from, to, text: `# ${mask}` }] : []
  })
}

/**
 * Masks a compose file for callers who may not see values of variables: these and credentials by their names become
 * `***`, also in comments; all other text is unchanged. None if the file cannot be parsed, since its values are unknown
 * then.
 */
export const maskComposeValues = (text: string): Option.Option<string> =>
  Option.map(Either.getRight(parseYaml(text)), ({ document }) => {
    const commented = findCommentedValues(text).map((range): Edit => ({ ...range, text: mask }))
    const values = editsIn(document.contents, text)
    const trailing = maskTrailing(text, values, listComments(text))
    const edits = [...values, ...trailing, ...commented].toSorted((a, b) => a.from - b.from)
    let shown = ""
    let at = 0
    for (const edit of edits) {
      if (edit.from < at) continue
      shown += text.slice(at, edit.from) + edit.text
      at = edit.to
    }
    return shown + text.slice(at)
  })

/**
 * Compose file as the caller of the current request may read it; none if it cannot be masked. Yields first, because
 * parsing takes a while.
 */
export const redactCompose = (text: string): Effect.Effect<Option.Option<string>, never, Settings> =>
  Effect.gen(function*() {
    const { role } = yield* CurrentCaller
    if (!maySeeValues(role)) yield* Effect.yieldNow()
    return yield* Effect.transposeMapOption(
      maySeeValues(role) ? Option.some(text) : maskComposeValues(text),
      (shown) => scrubSecrets(shown)
    )
  })
