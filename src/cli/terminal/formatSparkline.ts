const blocks = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const

/** Draws numbers from 0 to the highest of them as a line of blocks; a dot where there is none. */
export const formatSparkline = (values: ReadonlyArray<number | undefined>): string => {
  const most = Math.max(...values.map((value = 0) => value))
  return values.map((value) => {
    if (value === undefined) return "·"
    const level = most <= 0 ? 0 : Math.round(Math.max(0, value) / most * (blocks.length - 1))
    return blocks[level] ?? ""
  }).join("")
}
