/** Text of a body on one line: tags removed, white space collapsed, at most 300 characters. */
export const makeExcerpt = (text: string): string => {
  const words = text
    .slice(0, 20_000)
    .replace(/<(script|style)\b[^]*?<\/\1\s*>/gi, " ")
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim()
  return words.length > 300 ? `${words.slice(0, 300)}…` : words
}
