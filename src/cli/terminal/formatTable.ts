import { escapeInline, measureWidth, truncate } from "./safeText.ts"
import type { Surface } from "./Screen.ts"
import { makeStyler } from "./style.ts"

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
