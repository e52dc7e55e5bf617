import { fitted, safeText, textWidth } from "./safeText.ts"
import type { Surface } from "./Screen.ts"
import { styled } from "./style.ts"

const gap = "  "

/** What a column takes at least, however little room there is. */
const least = 6

/** Columns with what commands take: they are never cut, so that there is something to copy. */
const copied: ReadonlySet<string> = new Set([
  "APPLICATION",
  "CONTAINER",
  "ID",
  "NAME",
  "PROJECT",
  "RELEASE",
  "ROUTE",
  "RUN",
  "SERVER",
  "UUID"
])

/** Takes columns away from the widest that may be cut until all fit; nothing where they do not. */
const shrunk = (
  headings: ReadonlyArray<string>,
  widths: ReadonlyArray<number>,
  columns: number
): ReadonlyArray<number> | undefined => {
  const fitting = [...widths]
  const room = columns - gap.length * (widths.length - 1)
  let total = fitting.reduce((sum, width) => sum + width, 0)
  while (total > room) {
    const widest = Math.max(...fitting.filter((_, column) => !copied.has(headings[column] ?? "")))
    if (widest <= least) return undefined
    fitting[fitting.findIndex((width, column) => width === widest && !copied.has(headings[column] ?? ""))] = widest - 1
    total -= 1
  }
  return fitting
}

/** Each row as lines of its own, one for each cell that holds something. */
const records = (
  headings: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  surface: Surface
): string => {
  const style = styled(surface)
  const label = Math.max(...headings.map(textWidth))
  const room = surface.columns - label - gap.length
  return rows.map((row) =>
    row.flatMap((cell, column) => {
      const heading = headings[column] ?? ""
      if (cell === "") return []
      const name = style("dim", heading + " ".repeat(label - textWidth(heading)))
      if (!copied.has(heading)) return [`${name}${gap}${fitted(cell, room)}`]
      return textWidth(cell) <= room ? [`${name}${gap}${cell}`] : [style("dim", heading), `${gap}${cell}`]
    }).join("\n")
  ).join("\n\n")
}

/**
 * Rows below their headings. On a terminal they are cut to its width, but for what commands take; where there is too little
 * room for that, each row is a few lines. In a pipe they are whole. A cell is somebody else's text: it stays on its line.
 */
export const table = (
  headings: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  surface: Surface
): string => {
  const cells = [headings, ...rows].map((row) => row.map(safeText))
  const natural = headings.map((_, column) => Math.max(...cells.map((row) => textWidth(row[column] ?? ""))))
  const widths = surface.isTerminal ? shrunk(headings, natural, surface.columns) : natural
  if (widths === undefined) return records(headings, cells.slice(1), surface)
  const style = styled(surface)
  const lines = cells.map((row) =>
    row.map((cell, column) => {
      const width = widths[column] ?? 0
      const text = surface.isTerminal ? fitted(cell, width) : cell
      return text + " ".repeat(Math.max(0, width - textWidth(text)))
    }).join(gap).trimEnd()
  )
  const [first = "", ...others] = lines
  return [style("dim", first), ...others].join("\n")
}
