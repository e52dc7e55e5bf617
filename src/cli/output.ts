import { Context, Data, Effect, Option, type Redacted } from "effect"
import { escapeText, pluralize } from "../schema/words.ts"

/** Invalid usage of a command; nothing was done. */
export class Usage extends Data.TaggedError("Usage")<{
  readonly message: string
  /** Original message of the service, for `--json`. */
  readonly answered?: string
}> {}

/** A command failed. */
export class Failed extends Data.TaggedError("Failed")<{
  readonly message: string
  /** Original message of the service, for `--json`. */
  readonly answered?: string
  /** Lines with the commands that fix the failure. */
  readonly next?: ReadonlyArray<string>
}> {}

/** No project has the given name. */
export class NoSuchProject extends Data.TaggedError("NoSuchProject")<{
  readonly name: string
  readonly message: string
}> {}

export const exitCodes = {
  done: 0,
  failed: 1,
  /** Drift, or a plan with changes. */
  differs: 2,
  /** Deployed or started, but unhealthy. */
  unhealthy: 3,
  usage: 64,
  interrupted: 130
} as const

/** Signals after the first one, which interrupts the command. A signal without a waiter exits immediately. */
export class Interrupts extends Context.Reference<Interrupts>()("berth/cli/Interrupts", {
  defaultValue: (): {
    /** Waits for the next Ctrl-C and consumes it. */
    readonly next: Effect.Effect<void>
  } => ({ next: Effect.never })
}) {}

/** Properties of stdout or stderr. */
export interface Surface {
  /** True on a terminal. */
  readonly isTerminal: boolean
  readonly hasColor: boolean
  /** Characters per line. */
  readonly columns: number
}

/** Terminal of a command: data goes to stdout; progress, questions and failures go to stderr. */
export class Screen extends Context.Tag("berth/cli/Screen")<Screen, {
  readonly out: Surface
  readonly err: Surface
  /** True if questions can be answered. */
  readonly canAsk: boolean
  /** True if lines can be redrawn in place on stderr. */
  readonly canRedraw: boolean
  /** Writes lines to stdout. */
  readonly print: (text: string) => Effect.Effect<void>
  /** Writes lines to stderr, wrapped on a terminal. */
  readonly say: (text: string) => Effect.Effect<void>
  /** Replaces the live lines at the bottom of stderr; an empty list removes them. */
  readonly show: (lines: ReadonlyArray<string>) => Effect.Effect<void>
  /** Asks a yes-or-no question; anything but `y` or `yes` is a no. */
  readonly ask: (question: string) => Effect.Effect<boolean>
  /** Asks for a line of text; empty where the input ends. */
  readonly askText: (question: string) => Effect.Effect<string>
  /**
   * Asks for a value and does not show what is typed. Without a terminal, the value is the whole standard input without one
   * line break at its end, at most 1 MiB.
   */
  readonly askSecretly: (question: string) => Effect.Effect<Redacted.Redacted>
}>() {}

/** Asks for confirmation unless `--yes` is given; fails without a terminal. */
export const confirm = (question: string, yes: boolean): Effect.Effect<boolean, Usage, Screen> =>
  Effect.gen(function*() {
    if (yes) return true
    const { ask, canAsk, say } = yield* Screen
    if (!canAsk) return yield* new Usage({ message: `There is no terminal to ask on: "${question}" Add --yes` })
    const answer = yield* Effect.onInterrupt(ask(question), () => say("Nothing was changed."))
    if (!answer) yield* say("Nothing was changed.")
    return answer
  })

/**
 * Asks for confirmation like `confirm`, or for a protected environment for its name, which `--yes` does not stand for.
 * @returns the fields of the request that confirm it; none if it was declined
 */
export const confirmChange = (
  question: string,
  { confirm: given, yes }: { readonly confirm: Option.Option<string>; readonly yes: boolean },
  { environment, isProtected }: { readonly environment?: string | undefined; readonly isProtected: boolean }
): Effect.Effect<Option.Option<{ readonly confirm?: string }>, Usage, Screen> =>
  Effect.gen(function*() {
    const named = Option.match(given, { onNone: () => ({}), onSome: (confirm) => ({ confirm }) })
    if (!isProtected || environment === undefined) {
      return (yield* confirm(question, yes)) ? Option.some(named) : Option.none()
    }
    if (Option.isSome(given)) return Option.some(named)
    const { askText, canAsk, say } = yield* Screen
    if (!canAsk) {
      return yield* new Usage({
        message: `There is no terminal to ask on, and the environment ${environment} is protected: "${question}" ` +
          `Add --confirm ${environment}`
      })
    }
    const asked = askText(`${question} Type the name of the environment (${environment}):`)
    const typed = yield* Effect.onInterrupt(asked, () => say("Nothing was changed."))
    if (typed !== "") return Option.some({ confirm: typed })
    yield* say("Nothing was changed.")
    return Option.none()
  })

/** Environment variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** True for a terminal that shows colours, unless `NO_COLOR` has a value. */
export const hasColor = ({ isTTY }: { readonly isTTY: boolean }, environment: Environment): boolean =>
  isTTY && (environment["NO_COLOR"] ?? "") === "" && environment["TERM"] !== "dumb"

const colors = /\u001b\[[\d;]*m/g

/** Escapes control characters of untrusted text, so that it stays on one line. */
export const escapeInline = (text: string): string => escapeText(text, "\t")

/** Escapes a log line; keeps its colours on a colour terminal and resets them at its end. */
export const escapeLogLine = (text: string, hasColor: boolean): string => {
  // A carriage return overwrites the line: only the text after the last one is visible.
  const line = text.split("\r").filter((part) => part !== "").at(-1) ?? ""
  if (!hasColor || !line.includes("\u001b[")) return escapeInline(line.replace(colors, ""))
  const marks = line.match(colors) ?? []
  return `${line.split(colors).map(escapeInline).map((part, index) => part + (marks[index] ?? "")).join("")}\u001b[0m`
}

/** Escapes untrusted lines for a terminal; keeps colours, tabs and line breaks. */
export const escapeMultiline = (text: string): string => {
  const marks = text.match(colors) ?? []
  return text.split(colors).map((part, index) => escapeText(part, "\t\n") + (marks[index] ?? "")).join("")
}

const wide = /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/u
const zeroWidth = /\p{Mark}|[\u200b-\u200d]/u

const widthOf = (sign: string) => (zeroWidth.test(sign) ? 0 : wide.test(sign) ? 2 : 1)

/** Display width in columns, without colour codes. */
export const measureWidth = (text: string): number =>
  Array.from(text.replace(colors, "")).reduce((width, sign) => width + widthOf(sign), 0)

/** Truncates text to a width with an ellipsis; truncated text loses its colours. */
export const truncate = (text: string, columns: number): string => {
  if (measureWidth(text) <= columns) return text
  let width = 0
  let kept = ""
  for (const sign of text.replace(colors, "")) {
    width += widthOf(sign)
    if (width > columns - 1) return `${kept}…`
    kept += sign
  }
  return kept
}

const codes = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const

export type Style = keyof typeof codes

/** Styles text on surfaces with colours. */
export const makeStyler = ({ hasColor }: Pick<Surface, "hasColor">) => (style: Style, text: string): string => {
  const [on, off] = codes[style]
  return hasColor && text !== "" ? `\u001b[${on}m${text}\u001b[${off}m` : text
}

/** Six colours that are distinguishable on dark and light terminals. */
const several = [36, 35, 33, 32, 34, 31] as const

/** Colours text by index; colours repeat after the last. */
export const colorByIndex = ({ hasColor }: Pick<Surface, "hasColor">) => (index: number, text: string): string =>
  hasColor ? `\u001b[${several[index % several.length]}m${text}\u001b[39m` : text

/** Wraps a line between words; words longer than the width stay whole. */
export const wrapLine = (line: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let current = ""
  for (const word of line.split(" ")) {
    if (current !== "" && measureWidth(current) + 1 + measureWidth(word) > columns) {
      lines.push(current)
      current = word
    } else current = current === "" ? word : `${current} ${word}`
  }
  return [...lines, current]
}

// oxlint-disable-next-line no-control-regex
const begins = /^((?:\u001b\[[0-9;]*m)*)( *)/

/** Wraps text to the width of a terminal with hanging indentation; leaves it unchanged in pipes. */
export const wrapText = (text: string, surface: Surface): string =>
  surface.isTerminal
    ? text.split("\n").flatMap((line) => {
      if (measureWidth(line) <= surface.columns) return [line]
      // A colour may begin before the indentation.
      const [whole = "", , indent = ""] = begins.exec(line) ?? []
      const [first = "", ...others] = wrapLine(line.slice(whole.length), surface.columns - indent.length - 2)
      return [whole + first, ...others.map((rest) => `${indent}  ${rest}`)]
    }).join("\n")
    : text

/** Notice of lines dropped by backpressure. */
export const describeDropped = ({ lines }: { readonly lines: number }): string =>
  `${pluralize(lines, "line")} left out: they came faster than they were read`

/** Quotes a name or path for a shell, which would expand `~` and split at spaces. */
export const quoteShellWord = (given: string): string => {
  const shown = escapeInline(given)
  return /^[\w@%+=:,./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`
}

const blocks = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const

/** Draws values as a line of blocks, scaled from 0 to the highest value; a missing value is a dot. */
export const formatSparkline = (values: ReadonlyArray<number | undefined>): string => {
  const most = Math.max(...values.map((value = 0) => value))
  return values.map((value) => {
    if (value === undefined) return "·"
    const level = most <= 0 ? 0 : Math.round(Math.max(0, value) / most * (blocks.length - 1))
    return blocks[level] ?? ""
  }).join("")
}

const styleOf = (line: string): Style | undefined =>
  line.startsWith("+") ? "green" : line.startsWith("-") ? "red" : line.startsWith("@@") ? "cyan" : undefined

/** Lines of a unified diff without its file headers. */
export const formatDiff = (diff: string, surface: Surface): ReadonlyArray<string> =>
  diff.split("\n").filter((line) => line !== "" && !/^(---|\+\+\+|Index:|===)/.test(line)).map((line) => {
    const text = escapeLogLine(line, false)
    const style = styleOf(line)
    return style === undefined ? text : makeStyler(surface)(style, text)
  })

/** A change of a file: its name, then the indented lines of its diff. */
export const formatFileChange = (file: string, diff: string, surface: Surface): string =>
  [`${escapeInline(file)}:`, ...formatDiff(diff, surface).map((line) => `  ${line}`)].join("\n")

const gap = "  "

/** In characters. */
const minColumnWidth = 6

/** Columns whose cells are command arguments. They are never truncated, so that they can be copied. */
const copiedHeadings: ReadonlySet<string> = new Set([
  "APPLICATION",
  "BEHIND",
  "CONTAINER",
  "ID",
  "NAME",
  "OF",
  "PROJECT",
  "RELEASE",
  "ROUTE",
  "RUN",
  "SERVER",
  "UUID"
])

/** Shrinks the widest columns until all fit; undefined if they cannot. */
const shrinkColumns = (
  headings: ReadonlyArray<string>,
  widths: ReadonlyArray<number>,
  columns: number
): ReadonlyArray<number> | undefined => {
  const fitting = [...widths]
  const room = columns - gap.length * (widths.length - 1)
  let total = fitting.reduce((sum, width) => sum + width, 0)
  while (total > room) {
    const widest = Math.max(...fitting.filter((_, column) => !copiedHeadings.has(headings[column] ?? "")))
    if (widest <= minColumnWidth) return undefined
    fitting[fitting.findIndex((width, column) => width === widest && !copiedHeadings.has(headings[column] ?? ""))] =
      widest - 1
    total -= 1
  }
  return fitting
}

/** Formats each row as several lines, one per non-empty cell. */
const records = (
  headings: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  surface: Surface
): string => {
  const style = makeStyler(surface)
  const label = Math.max(...headings.map(measureWidth))
  const room = surface.columns - label - gap.length
  return rows.map((row) =>
    row.flatMap((cell, column) => {
      const heading = headings[column] ?? ""
      if (cell === "") return []
      const name = style("dim", heading + " ".repeat(label - measureWidth(heading)))
      if (!copiedHeadings.has(heading)) return [`${name}${gap}${truncate(cell, room)}`]
      return measureWidth(cell) <= room ? [`${name}${gap}${cell}`] : [style("dim", heading), `${gap}${cell}`]
    }).join("\n")
  ).join("\n\n")
}

/**
 * Formats a table and escapes its cells, which are untrusted text. On a terminal it is truncated to the width, or
 * stacked if it cannot shrink enough; in a pipe it is complete.
 */
export const formatTable = (
  headings: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  surface: Surface
): string => {
  const cells = [headings, ...rows].map((row) => row.map(escapeInline))
  const natural = headings.map((_, column) => Math.max(...cells.map((row) => measureWidth(row[column] ?? ""))))
  const widths = surface.isTerminal ? shrinkColumns(headings, natural, surface.columns) : natural
  if (widths === undefined) return records(headings, cells.slice(1), surface)
  const style = makeStyler(surface)
  const lines = cells.map((row) =>
    row.map((cell, column) => {
      const width = widths[column] ?? 0
      const text = surface.isTerminal ? truncate(cell, width) : cell
      return text + " ".repeat(Math.max(0, width - measureWidth(text)))
    }).join(gap).trimEnd()
  )
  const [first = "", ...others] = lines
  return [style("dim", first), ...others].join("\n")
}

/** Prints a table, or a sentence if there are no rows. */
export const printTable = (
  none: string,
  headings: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): Effect.Effect<void, never, Screen> =>
  Effect.flatMap(
    Screen,
    ({ out, print, say }) => rows.length === 0 ? say(none) : print(formatTable(headings, rows, out))
  )
