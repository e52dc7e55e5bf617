const units = ["B", "kB", "MB", "GB", "TB"] as const

/** Writes a number of bytes for readers, the same in plans, results and on the page: `12.3 MB`. */
export const formatBytes = (count: number): string => {
  const exponent = count < 1_000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(count) / 3))
  const value = count / 1_000 ** exponent
  return `${exponent === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[exponent] ?? "B"}`
}
