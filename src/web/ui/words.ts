const units = [["day", 86_400], ["hour", 3_600], ["minute", 60], ["second", 1]] as const

/** `3 minutes ago`, of milliseconds. */
export const ago = (millis: number): string => {
  const seconds = Math.floor(millis / 1_000)
  const [unit, size] = units.find(([, size]) => seconds >= size) ?? ["second", 1]
  const count = Math.floor(seconds / size)
  return count === 0 ? "just now" : `${count} ${unit}${count === 1 ? "" : "s"} ago`
}

/** A number of bytes as people write it: `59.4 MB`. */
export const bytes = (count: number): string => {
  if (count < 1_000) return `${count} B`
  const names = ["kB", "MB", "GB", "TB"]
  const power = Math.min(Math.floor(Math.log10(count) / 3), names.length)
  const value = count / 1_000 ** power
  return `${value >= 100 ? value.toFixed(0) : value.toFixed(1)} ${names[power - 1] ?? "B"}`
}

/** A time that something took: `1.2 s`, `3 min 5 s`. */
export const lasted = (millis: number): string => {
  if (millis < 60_000) return `${(millis / 1_000).toFixed(1)} s`
  const seconds = Math.floor(millis / 1_000)
  return seconds < 3_600
    ? `${Math.floor(seconds / 60)} min ${seconds % 60} s`
    : `${Math.floor(seconds / 3_600)} h ${Math.floor(seconds % 3_600 / 60)} min`
}

/** `2 changes`, `1 change`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`

/** Anything that a field may hold, as a person reads it. */
export const shown = (value: unknown): string => {
  if (value === null || value === undefined || value === "") return "nothing"
  return typeof value === "string" ? value : JSON.stringify(value)
}
