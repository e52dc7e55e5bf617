import type { BerthError } from "../../client/BerthError.ts"
import { Failed, Usage } from "../terminal/commandErrors.ts"
import type { ArgumentDescription, OptionDescription } from "./parameters.ts"

interface CommandWords {
  readonly options: ReadonlyArray<OptionDescription>
  readonly arguments: ReadonlyArray<ArgumentDescription>
}

/** Request fields whose names differ from the option or argument that fills them. */
const otherFields: Readonly<Record<string, ReadonlyArray<string>>> = {
  "<project>": ["projectPath", "path"],
  "<name>": ["routeName", "containerName", "files[0].remotePath", "files[0].localPath", "files[0].name"],
  "<address>": ["host", "username"],
  "<run>": ["id"],
  "<server>": ["serverId", "id"],
  "<application>": ["appName", "name"],
  "--server": ["serverId"],
  "--path": ["remotePath"],
  "--key": ["privateKey"],
  "--sudo": ["useSudo"],
  "--app": ["appName"],
  "--id": ["newId"]
}

const camelCase = (name: string) => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

const escaped = (text: string) => text.replace(/[.[\]]/g, "\\$&")

/** True for words that occur only as field names, not in sentences. */
const isUnmistakable = (field: string) => /[A-Z[]/.test(field)

/** Maps request fields to options and arguments. */
const wordsOf = (node: CommandWords, args: ReadonlyArray<string>) => {
  const isGiven = (name: string) => args.some((word) => word === `--${name}` || word.startsWith(`--${name}=`))
  const all = [
    ...node.options.filter(({ value }) => value !== undefined).map(({ name }) => ({
      name,
      word: name === "path" && !isGiven(name) ? "remotePath in container.json" : `--${name}`,
      key: `--${name}`
    })),
    ...node.arguments.map(({ name }) => ({
      name,
      word: name === "project" ? "The project" : `<${name}>`,
      key: `<${name}>`
    }))
  ]
  const project = { field: "projectPath", word: "The project" }
  const filled = all.flatMap(({ key, name, word }) =>
    [camelCase(name), ...otherFields[key] ?? []].map((field) => ({ field, word }))
  )
  return [...filled, project]
}

/**
 * Replaces field names in a rejected request's message by the options and arguments that fill them. An option or argument
 * with an invalid form makes it a usage error.
 */
export const rewordForCommand = (
  node: CommandWords,
  args: ReadonlyArray<string>
) =>
(error: BerthError): BerthError | Failed | Usage => {
  // 422 refers to fields of a file, not of the request.
  if (error.status === undefined || error.status === 422) return error
  let isUsage = false
  const reworded = wordsOf(node, args).reduce((message, { field, word }) => {
    const before = isUnmistakable(field) ? "(?<![\\w./-])" : "(?<=^|; )"
    // Quoted text is user input and stays as it is.
    const pattern = new RegExp(`("[^"]*")|${before}${escaped(field)}(?![\\w.[-])`, "g")
    return message.replace(pattern, (found: string, quoted: string | undefined) => {
      if (quoted !== undefined) return found
      isUsage ||= /^[-<]/.test(word)
      return word
    })
  }, error.message)
  if (reworded === error.message) return error
  const failure = { message: reworded, answered: error.message }
  return isUsage && error.status === 400 ? new Usage(failure) : new Failed(failure)
}
