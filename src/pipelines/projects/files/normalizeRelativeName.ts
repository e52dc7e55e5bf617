import { Either } from "effect"
import { quoteInput } from "../../../schema/words/quoted.ts"

const drive = /^[A-Za-z]:/
const controls = /[\0\r\n]/

/**
 * Normalizes a file name that is relative to a project or its deployed copy: `./a//b/` becomes `a/b`. Left is the
 * reason to reject a name that is absolute, leaves its root, or is another path on some operating system.
 */
export const normalizeRelativeName = (name: string): Either.Either<string, string> => {
  const refuse = (reason: string) => Either.left(`${quoteInput(name)} ${reason}`)
  if (controls.test(name)) return refuse("holds a control character")
  if (name.includes("\\")) return refuse("holds a backslash: separate directories with \"/\"")
  if (name.startsWith("/") || name.startsWith("~") || drive.test(name)) return refuse("is not relative to the project")
  const segments = name.split("/").filter((segment) => segment !== "" && segment !== ".")
  if (segments.includes("..")) return refuse("leaves the project")
  return segments.length === 0 ? refuse("names no file") : Either.right(segments.join("/"))
}
