import { fitted, safeText, textWidth } from "./safeText.ts"
import type { Surface } from "./Screen.ts"
import { styled } from "./style.ts"

const gap = "  "

/** What a column takes at least, however little room there is. */
const least = 4

/** Takes columns away from the widest until all fit. */
const shrunk = (widths: ReadonlyArray<number>, columns: number): ReadonlyArray<number> => {
  const fitting = [...widths]
  const room = columns - gap.length * (widths.length - 1)
  let total = fitting.reduce((sum, width) => sum + width, 0)
  while (total > room) {
    const widest = Math.max(...fitting)
    if (widest <= least) break
    fitting[fitting.indexOf(widest)] = widest - 1
    total -= 1
  }
  return fitting
}

/**
 * Rows below their headings. On a terminal they are cut to its width; in a pipe they are whole. A cell is somebody
 * else's text: it stays on its line.
 */
export const table = (
  headings: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  surface: Surface
): string => {
  const cells = [headings, ...rows].map((row) => row.map(safeText))
  const natural = headings.map((_, column) => Math.max(...cells.map((row) => textWidth(row[column] ?? ""))))
  const widths = surface.isTerminal ? shrunk(natural, surface.columns) : natural
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
