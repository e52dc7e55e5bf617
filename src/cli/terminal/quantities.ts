import { pluralize } from "../../schema/words/pluralize.ts"

/** Formats a duration: `0.4 s`, `12 s`, `3 min`, `2 h`, `5 d`. */
export const formatDuration = (millis: number): string => {
  const seconds = Math.max(0, millis) / 1_000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 90) return `${Math.round(seconds)} s`
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`
  return seconds < 36 * 3_600 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`
}

/** Notice of lines dropped by backpressure. */
export const describeDropped = ({ lines }: { readonly lines: number }): string =>
  `${pluralize(lines, "line")} left out: they came faster than they were read`
