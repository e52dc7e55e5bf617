import { truncate } from "../terminal/safeText.ts"
import type { Surface } from "../terminal/Screen.ts"
import { makeStyler } from "../terminal/style.ts"
import { wrapLine } from "../terminal/wrapText.ts"
import type { CommandNode } from "./command.ts"
import type { ArgumentDescription, OptionDescription } from "./parameters.ts"

const widest = 100
const longestTerm = 28

/** Formats terms and meanings in two columns, or stacked on narrow surfaces. */
const listOf = (
  pairs: ReadonlyArray<readonly [term: string, meaning: string]>,
  surface: Surface
): ReadonlyArray<string> => {
  const columns = Math.min(surface.columns, widest)
  const style = makeStyler(surface)
  const width = Math.min(longestTerm, Math.max(...pairs.map(([term]) => term.length)))
  const isNarrow = columns < width + 30
  return pairs.flatMap(([term, meaning]) => {
    const indent = isNarrow ? 6 : width + 4
    const [first = "", ...others] = wrapLine(meaning, columns - indent)
    const below = others.map((line) => " ".repeat(indent) + line)
    return isNarrow || term.length > width
      ? [`  ${style("cyan", truncate(term, columns - 2))}`, " ".repeat(indent) + first, ...below]
      : [`  ${style("cyan", term.padEnd(width))}  ${first}`, ...below]
  })
}

const optionTerm = ({ alias, name, value }: OptionDescription) =>
  `${alias === undefined ? "" : `-${alias}, `}--${name}${value === undefined ? "" : ` <${value}>`}`
const argumentTerm = ({ name, optional, repeated }: ArgumentDescription) =>
  optional ? `[${name}${repeated === true ? "..." : ""}]` : `<${name}>`

const behindTerm = ({ name }: ArgumentDescription) => `-- <${name}>…`

const usageOf = (path: string, node: CommandNode) => {
  if (node.children.length > 0) return `${path} <command>`
  return [
    path,
    ...node.arguments.map(argumentTerm),
    ...(node.options.length > 0 ? ["[options]"] : []),
    ...(node.behind === undefined ? [] : [behindTerm(node.behind)])
  ].join(" ")
}

/** Formats the help of a command for a surface. */
export const formatHelp = (path: string, node: CommandNode, surface: Surface): string => {
  const style = makeStyler(surface)
  const columns = Math.min(surface.columns, widest)
  const section = (title: string, lines: ReadonlyArray<string>) =>
    lines.length === 0 ? [] : ["", style("bold", title), ...lines]
  const pairs = (all: ReadonlyArray<readonly [string, string]>) => (all.length === 0 ? [] : listOf(all, surface))
  return [
    ...wrapLine(node.summary, columns),
    ...(node.details === "" ? [] : ["", ...node.details.split("\n").flatMap((line) => wrapLine(line, columns))]),
    ...section("Usage", [`  ${usageOf(path, node)}`]),
    ...section("Commands", pairs(node.children.map(({ name, summary }) => [name, summary] as const))),
    ...section(
      "Arguments",
      pairs([
        ...node.arguments.map((each) => [argumentTerm(each), each.words] as const),
        ...(node.behind === undefined ? [] : [[behindTerm(node.behind), node.behind.words] as const])
      ])
    ),
    ...section("Options", pairs(node.options.map((each) => [optionTerm(each), each.words] as const))),
    ...section("Examples", node.examples.map((example) => `  ${example}`))
  ].join("\n")
}
