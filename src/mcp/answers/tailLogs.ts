import { escapeTextLines } from "../../schema/words/escaped.ts"

/** Bytes of logs for an agent: default, minimum and maximum. */
export const usualBytes = 16_000
export const leastBytes = 1_000
export const mostBytes = 100_000

/** Newest whole lines of logs that fit after escaping; `cut` is true if older ones are left out. */
export const tailLogs = (logs: string, maxBytes: number): { readonly text: string; readonly cut: boolean } => {
  const text = escapeTextLines(logs).replace(/\n$/, "")
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= maxBytes) return { text, cut: false }
  const end = new TextDecoder().decode(bytes.slice(bytes.length - maxBytes))
  const from = end.indexOf("\n")
  return { text: from === -1 ? end : end.slice(from + 1), cut: true }
}
