const pad = (number: number, width = 2) => String(number).padStart(width, "0")

/** Formats the time of day: `14:03:07.250`, in the browser's zone. */
export const formatClock = (millis: number): string => {
  const at = new Date(millis)
  return `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}.${pad(at.getMilliseconds(), 3)}`
}

/** Formats a day: `Friday, 2 January 2026`, in the browser's zone. */
export const formatDay = (millis: number): string =>
  new Date(millis).toLocaleDateString("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" })

/** Formats a moment with its zone: `2026-01-02 14:03:07 Europe/Berlin (UTC+01:00)`. */
export const formatMoment = (millis: number): string => {
  const at = new Date(millis)
  const ahead = -at.getTimezoneOffset()
  const offset = `${ahead < 0 ? "-" : "+"}${pad(Math.floor(Math.abs(ahead) / 60))}:${pad(Math.abs(ahead) % 60)}`
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const date = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`
  return `${date} ${formatClock(millis).slice(0, 8)} ${zone} (UTC${offset})`
}

const quarter = 15 * 60_000
const days = new Map<number, number>()

/**
 * Start of the local day, in milliseconds. Zone offsets are multiples of a quarter of an hour, so results are cached by
 * quarters.
 */
export const computeDayStart = (millis: number): number => {
  const at = Math.floor(millis / quarter)
  const known = days.get(at)
  if (known !== undefined) return known
  if (days.size > 10_000) days.clear()
  const day = new Date(millis).setHours(0, 0, 0, 0)
  days.set(at, day)
  return day
}
