import { type Node, parseTree } from "jsonc-parser"

/** Indentation of a text, taken from its first indented line; two spaces by default. */
const indentIn = (text: string): string => /^([ \t]+)\S/m.exec(text)?.[1] ?? "  "
const lineEndIn = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n")

/** Leading white space of the line that contains an offset. */
const marginAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset))?.[0] ?? ""

const elementsOf = (root: Node): ReadonlyArray<Node> => root.type === "array" ? root.children ?? [] : [root]

/**
 * Replaces the element at an index of a JSON list, or appends it. A single value counts as a list of one, and is
 * wrapped in a list when a second one is added. All other elements keep their bytes.
 * @param text JSON that `parseJson` has parsed; blank text is an empty list
 */
export const withElement = (text: string, value: unknown, index?: number): string => {
  const root = parseTree(text)
  const [indent, end] = [indentIn(text), lineEndIn(text)]
  const written = (margin: string) => JSON.stringify(value, undefined, indent).replaceAll("\n", `${end}${margin}`)
  if (root === undefined) return `${written("")}${end}`
  const elements = elementsOf(root)
  const replaced = index === undefined ? undefined : elements[index]
  const splice = (from: number, to: number, content: string) => `${text.slice(0, from)}${content}${text.slice(to)}`
  if (replaced !== undefined) {
    return splice(replaced.offset, replaced.offset + replaced.length, written(marginAt(text, replaced.offset)))
  }
  const after = root.offset + root.length
  const margin = marginAt(text, root.offset)
  const last = elements.at(-1)
  if (root.type !== "array") {
    const whole = text.slice(root.offset, after)
    return splice(root.offset, after, `[${end}${whole},${end}${written("")}${end}]`)
  }
  if (last === undefined) {
    return splice(root.offset, after, `[${end}${margin}${indent}${written(margin + indent)}${end}${margin}]`)
  }
  const own = marginAt(text, last.offset)
  return splice(last.offset + last.length, last.offset + last.length, `,${end}${own}${written(own)}`)
}
