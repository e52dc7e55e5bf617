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
