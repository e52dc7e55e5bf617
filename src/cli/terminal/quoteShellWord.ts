import { escapeInline } from "./safeText.ts"

/** Quotes a name or path for a shell, which would expand `~` and split at spaces. */
export const quoteShellWord = (given: string): string => {
  const shown = escapeInline(given)
  return /^[\w@%+=:,./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`
}
