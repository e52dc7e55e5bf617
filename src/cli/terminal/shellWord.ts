import { safeText } from "./safeText.ts"

/** Quotes a name or path for a shell, which would expand `~` and split at spaces. */
export const shellWord = (given: string): string => {
  const shown = safeText(given)
  return /^[\w@%+=:,./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`
}
