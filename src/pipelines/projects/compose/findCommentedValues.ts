import { Lexer } from "yaml"
import { hostPortKey } from "../../../schema/applications/hostPortKey.ts"
import { mayBeCredentialName } from "../../../services/secrets/credentialName.ts"

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
export interface Range {
  readonly from: number
  readonly to: number
}

/** Finds the comments of a YAML text, from their `#`. */
export const listComments = (text: string): ReadonlyArray<Range> => {
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
export const findCommentedValues = (text: string): ReadonlyArray<Range> =>
  listComments(text).flatMap(({ from, to }) => {
    const value = valueIn(text.slice(from, to))
    return value === undefined ? [] : [{ from: from + value, to }]
  })
