import { safeText } from "./safeText.ts"

/** A name or a path as a word of a command that can be pasted into a shell, which else expands `~` and splits at spaces. */
export const shellWord = (given: string): string => {
  const shown = safeText(given)
  return /^[\w@%+=:,./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`
}
