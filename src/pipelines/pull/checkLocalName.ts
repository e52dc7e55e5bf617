import { Either } from "effect"
import { quoteInput } from "../../schema/words/quoted.ts"

const device = /^(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\..*)?$/i
const forbidden = /[<>:"|?*\p{Cc}]|[. ]$/u

const problem = (name: string, separator: string): string | undefined => {
  if (name === "" || name === "." || name === "..") return "is not a name"
  if (name.includes("/") || name.includes("\\") || name.includes("\0")) return "would leave the directory"
  if (/^[A-Za-z]:/.test(name)) return "begins with a drive letter"
  if (separator === "\\" && (device.test(name) || forbidden.test(name))) return "is not a name that Windows allows"
  return undefined
}

/**
 * Accepts a name from a server if it is a plain entry name of a local directory on any system. Left is the reason to
 * reject it.
 * @param separator separator of local paths, which identifies Windows
 */
export const checkLocalName = (name: string, separator: string): Either.Either<string, string> => {
  const reason = problem(name, separator)
  return reason === undefined ? Either.right(name) : Either.left(`${quoteInput(name)} ${reason}`)
}
