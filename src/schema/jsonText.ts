import { Either } from "effect"
import { quoted } from "./quoted.ts"

/** Where a text stops being JSON, and why. Lines and columns count from 1. No value of the text is shown. */
export interface JsonMistake {
  readonly line: number
  readonly column: number
  readonly reason: string
}

type Wanted = "value" | "value or end" | "name" | "name or end" | "colon" | "comma" | "nothing"

const needed: Readonly<Record<Wanted, string>> = {
  "value": "a value is missing here, or it lacks its double quotes",
  "value or end": "a value is missing here, or it lacks its double quotes",
  "name": "a name in double quotes is missing here",
  "name or end": "a name in double quotes is missing here",
  "colon": "a colon is missing here",
  "comma": "a comma is missing here, or something is not closed",
  "nothing": "something follows after the end"
}

const plain = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y

/** The index after the string that begins at an index, or where and why it is none. */
const endOfString = (text: string, start: number): Either.Either<number, readonly [at: number, reason: string]> => {
  for (let at = start + 1; at < text.length; at++) {
    const sign = text[at] ?? ""
    if (sign === "\"") return Either.right(at + 1)
    if (sign < " ") return Either.left([at, "a line break or control character stands in a string: write it as \\n"])
    if (sign !== "\\") continue
    const next = text[at + 1] ?? ""
    if (next === "u" ? !/^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6)) : !"\"\\/bfnrt".includes(next)) {
      return Either.left([at, "a backslash stands alone in a string: write it as \\\\"])
    }
    at += 1
  }
  return Either.left([start, "a string is not closed"])
}

const position = (text: string, at: number, reason: string, name: string | undefined): JsonMistake => {
  const before = text.slice(0, at).split("\n")
  const after = name === undefined ? "" : `after ${quoted(name)}, `
  return { line: before.length, column: (before[before.length - 1] ?? "").length + 1, reason: `${after}${reason}` }
}

/** Where a text stops being JSON; reads it once, however deep it is. Nothing when it is JSON. */
export const jsonMistake = (text: string): JsonMistake | undefined => {
  const open: Array<"{" | "["> = []
  let wanted: Wanted = "value"
  let name: string | undefined
  const after = () => open.length === 0 ? "nothing" : "comma"
  let at = text.startsWith("\uFEFF") ? 1 : 0
  while (at < text.length) {
    const sign = text[at] ?? ""
    const here = (reason: string) => position(text, at, reason, name)
    const takesValue: boolean = wanted === "value" || wanted === "value or end"
    if (/\s/.test(sign)) at += 1
    else if (sign === "\"" && (takesValue || wanted.startsWith("name"))) {
      const end = endOfString(text, at)
      if (Either.isLeft(end)) return position(text, end.left[0], end.left[1], name)
      if (!takesValue) name = text.slice(at + 1, end.right - 1)
      wanted = takesValue ? after() : "colon"
      at = end.right
    } else if (takesValue && (sign === "{" || sign === "[")) {
      open.push(sign)
      wanted = sign === "{" ? "name or end" : "value or end"
      at += 1
    } else if (sign === "}" || sign === "]") {
      if (wanted === "name" || (wanted === "value" && sign === "]")) {
        return here(`the comma before ${sign} is one too many`)
      }
      const fits = open[open.length - 1] === (sign === "}" ? "{" : "[")
      if (!fits || !["comma", "name or end", "value or end"].includes(wanted)) return here(`${sign} does not fit here`)
      open.pop()
      wanted = after()
      at += 1
    } else if (sign === "," && wanted === "comma") {
      wanted = open[open.length - 1] === "{" ? "name" : "value"
      at += 1
    } else if (sign === ":" && wanted === "colon") {
      wanted = "value"
      at += 1
    } else {
      plain.lastIndex = at
      const value = takesValue ? plain.exec(text)?.[0] : undefined
      if (value === undefined) return here(needed[wanted])
      wanted = after()
      at += value.length
    }
  }
  return wanted === "nothing" ? undefined : position(text, text.length, "the text ends too early", name)
}

/** ` at line 3, column 7: after "serverId", a comma is missing here`: for the end of "is not valid JSON". */
export const jsonMistakeWords = ({ column, line, reason }: JsonMistake): string =>
  ` at line ${line}, column ${column}: ${reason}`

/** Reads JSON; says where it stops being JSON. */
export const parseJson = (text: string): Either.Either<unknown, JsonMistake> =>
  Either.try({
    try: (): unknown => JSON.parse(text),
    catch: () => jsonMistake(text) ?? { line: 1, column: 1, reason: "it cannot be read" }
  })
