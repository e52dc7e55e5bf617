const units = [["day", 86_400], ["hour", 3_600], ["minute", 60], ["second", 1]] as const

/** Formats an age in milliseconds: `3 minutes ago`. */
export const formatAge = (millis: number): string => {
  const seconds = Math.floor(millis / 1_000)
  const [unit, size] = units.find(([, size]) => seconds >= size) ?? ["second", 1]
  const count = Math.floor(seconds / size)
  return count === 0 ? "just now" : `${count} ${unit}${count === 1 ? "" : "s"} ago`
}

/** Formats a duration: `1.2 s`, `3 min 5 s`. */
export const formatDuration = (millis: number): string => {
  if (millis < 60_000) return `${(millis / 1_000).toFixed(1)} s`
  const seconds = Math.floor(millis / 1_000)
  return seconds < 3_600
    ? `${Math.floor(seconds / 60)} min ${seconds % 60} s`
    : `${Math.floor(seconds / 3_600)} h ${Math.floor(seconds % 3_600 / 60)} min`
}

/** Formats a count: `2 changes`, `1 change`. */
export const formatCount = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`

/** Formats the value of any field. */
export const formatValue = (value: unknown): string => {
  if (value === null || value === undefined || value === "") return "nothing"
  return typeof value === "string" ? value : JSON.stringify(value)
}
