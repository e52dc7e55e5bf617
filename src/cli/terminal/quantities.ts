const units = ["B", "kB", "MB", "GB", "TB"] as const

/** A number of bytes as people read it: `12.3 MB`. */
export const bytes = (count: number): string => {
  const exponent = count < 1_000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(count) / 3))
  const value = count / 1_000 ** exponent
  return `${exponent === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[exponent] ?? "B"}`
}

/** A length of time as people read it: `0.4 s`, `12 s`, `3 min`, `2 h`, `5 d`. */
export const duration = (millis: number): string => {
  const seconds = Math.max(0, millis) / 1_000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 90) return `${Math.round(seconds)} s`
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`
  return seconds < 36 * 3_600 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`
}

/** One thing or several: `1 file`, `3 files`. */
export const counted = (count: number, one: string, several = `${one}s`): string =>
  `${count} ${count === 1 ? one : several}`

/** That lines are missing, where a program wrote them faster than they could be read. */
export const droppedWords = ({ lines }: { readonly lines: number }): string =>
  `${counted(lines, "line")} left out: they came faster than they were read`
