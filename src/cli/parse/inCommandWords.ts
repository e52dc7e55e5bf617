import type { BerthError } from "../../client/BerthError.ts"
import { Failed, Usage } from "../Failure.ts"
import type { ArgumentWords, OptionWords } from "./described.ts"

/** What a command takes. */
interface CommandWords {
  readonly options: ReadonlyArray<OptionWords>
  readonly arguments: ReadonlyArray<ArgumentWords>
}

/** The fields of requests that an option or argument fills, where they are called otherwise. */
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

/** A word that only a field is called, and no sentence needs. */
const isUnmistakable = (field: string) => /[A-Z[]/.test(field)

/** The words of a command line for the fields of requests. */
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
 * A refusal of a request in the words of the command that sent it: a field is called by the option or argument that fills
 * it. It is a matter of usage where one of those was refused for its form.
 */
export const inCommandWords = (
  node: CommandWords,
  args: ReadonlyArray<string>
) =>
(error: BerthError): BerthError | Failed | Usage => {
  // A file that cannot be used is told with its own fields.
  if (error.status === undefined || error.status === 422) return error
  let isUsage = false
  const told = wordsOf(node, args).reduce((message, { field, word }) => {
    const before = isUnmistakable(field) ? "(?<![\\w./-])" : "(?<=^|; )"
    // What stands in quotes is the user's own.
    const pattern = new RegExp(`("[^"]*")|${before}${escaped(field)}(?![\\w.[-])`, "g")
    return message.replace(pattern, (found: string, quoted: string | undefined) => {
      if (quoted !== undefined) return found
      isUsage ||= /^[-<]/.test(word)
      return word
    })
  }, error.message)
  if (told === error.message) return error
  const failure = { message: told, answered: error.message }
  return isUsage && error.status === 400 ? new Usage(failure) : new Failed(failure)
}
