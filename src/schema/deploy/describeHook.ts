import type { PlannedHook } from "./Hooks.ts"

/**
 * Formats the command of a hook, with JSON quotes where spaces would be ambiguous: `beforeStart in web: npm run
 * migrate`.
 */
export const describeHook = ({ command, service, when }: PlannedHook): string => {
  const words = command.map((word) => /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))
  return `${when}${service === undefined ? " here" : ` in ${service}`}: ${words.join(" ")}`
}
