const longest = 8_000

/** Indents a line that is a JSON object or list; undefined for any other line. */
export const unfoldJson = (text: string): string | undefined => {
  const trimmed = text.trim()
  if (trimmed.length > longest || !/^(?:\{.*\}|\[.*\])$/s.test(trimmed)) return undefined
  try {
    const value: unknown = JSON.parse(trimmed)
    return typeof value === "object" && value !== null && Object.keys(value).length > 0
      ? JSON.stringify(value, null, 2)
      : undefined
  } catch {
    return undefined
  }
}
