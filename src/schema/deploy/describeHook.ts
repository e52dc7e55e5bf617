import type { PlannedHook } from "./Hooks.ts"

/** Command of a hook, quoted like JSON where spaces would mislead: `beforeStart in web: npm run migrate`. */
export const describeHook = ({ command, service, when }: PlannedHook): string => {
  const words = command.map((word) => /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))
  return `${when}${service === undefined ? " here" : ` in ${service}`}: ${words.join(" ")}`
}
