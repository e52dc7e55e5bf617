import { Effect, Option, Predicate } from "effect"
import { Berth } from "../client/Berth.ts"
import { formatServerReference } from "../schema/servers.ts"
import { withService } from "./options.ts"
import { Screen } from "./output.ts"
import type { CommandNode, CompletionKind, OptionDescription } from "./parse.ts"
import { locateNamedStack, resolveProject } from "./stackLocation.ts"

/** Completions at the cursor: fixed words, or names to look up. */
interface Candidates {
  readonly words: ReadonlyArray<string>
  readonly names?: CompletionKind
  /** Arguments before the cursor. */
  readonly given: ReadonlyArray<string>
  /** Option values before the cursor, by name. */
  readonly options: ReadonlyMap<string, string>
}

const isOption = (word: string) => ({ alias, name }: OptionDescription) => word === `--${name}` || word === `-${alias}`

/**
 * Finds completions for the last word of a command line.
 * @param words words after `berth`; the last one is incomplete and may be empty
 */
export const findCandidates = (root: CommandNode, words: ReadonlyArray<string>): Candidates => {
  const before = words.slice(0, -1)
  const current = words.at(-1) ?? ""
  const given: Array<string> = []
  const options = new Map<string, string>()
  let node = root
  let valueOf: OptionDescription | undefined
  for (const word of before) {
    const child = given.length === 0 ? node.children.find(({ name }) => name === word) : undefined
    if (valueOf !== undefined) {
      options.set(valueOf.name, word)
      valueOf = undefined
    } else if (child !== undefined) node = child
    else if (word.startsWith("-")) {
      valueOf = node.options.find((option) => option.value !== undefined && isOption(word)(option))
      const [, name = "", value] = /^--([\w-]+)=(.*)$/s.exec(word) ?? []
      if (value !== undefined) options.set(name, value)
    } else given.push(word)
  }
  const found = (all: ReadonlyArray<string>, names?: CompletionKind): Candidates => ({
    words: all.filter((word) => word.startsWith(current)),
    ...(names === undefined ? {} : { names }),
    given,
    options
  })
  if (node.behind !== undefined && before.includes("--")) return found([])
  if (valueOf !== undefined) return found(valueOf.choices ?? [], valueOf.names)
  if (current.startsWith("-")) return found([...node.options.map(({ name }) => `--${name}`), "--help"])
  if (node.children.length > 0) return found(node.children.map(({ name }) => name))
  const last = node.arguments.at(-1)
  const argument = node.arguments[given.length] ?? (last?.repeated === true ? last : undefined)
  return found(argument?.choices ?? [], argument?.names)
}

const maxListedRuns = 50

/** Lists the names to complete from the service. */
const listNames = ({ given, names, options }: Candidates) =>
  Effect.gen(function*() {
    const { use } = yield* Berth
    const option = (name: string) => Option.fromNullable(options.get(name))
    switch (names) {
      case "project":
        return (yield* use((api) => api.listProjects({}))).map(({ name }) => name)
      case "server":
        return yield* Effect.map(
          use((api) => api.listServers({})),
          // Names with spaces cannot be completed; their ids can.
          (servers) =>
            servers.map((server) => formatServerReference(servers, server)).map((name, index) =>
              /\s/.test(name) ? servers[index]?.id ?? name : name
            )
        )
      case "environment": {
        const projectPath = yield* resolveProject(Option.fromNullable(given[0]))
        const { environments = [] } = yield* use((api) => api.inspectProject({ payload: { projectPath } }))
        return environments.map(({ name }) => name)
      }
      case "application":
        return (yield* use((api) => api.listApplications({}))).map(({ name }) => name).filter(Predicate.isString)
      case "run":
        return (yield* use((api) => api.listRuns({ urlParams: { limit: maxListedRuns } }))).runs.map(({ id }) => id)
      case "route":
        return (yield* use((api) => api.listRoutes({}))).routes.map(({ routeName }) => routeName)
      case "release": {
        const place = { env: option("env"), server: option("server"), path: option("path") }
        const { remotePath, serverId } = yield* locateNamedStack(Option.fromNullable(given[0]), place)
        const { releases } = yield* use((api) =>
          api.listReleases({ path: { id: serverId }, urlParams: { remotePath } })
        )
        return releases.flatMap(({ available, current, id }) => available && !current ? [id] : [])
      }
      default:
        return []
    }
  })

// Excludes names that a shell would split or expand.
const isWord = (name: string) => /^[\w.@:/+~-]{1,200}$/.test(name)

/**
 * Prints completions for the last word, one per line. Prints nothing if they cannot be looked up: a shell shows the output
 * while the user types.
 */
export const complete = (root: CommandNode, words: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const screen = yield* Screen
    const found = findCandidates(root, words)
    const current = words.at(-1) ?? ""
    const names = found.names === undefined
      ? []
      : yield* withService(
        {
          url: Option.fromNullable(found.options.get("url")),
          config: Option.fromNullable(found.options.get("config"))
        },
        listNames(found)
      ).pipe(
        // Completion must not ask questions.
        Effect.provideService(Screen, { ...screen, canAsk: false }),
        Effect.orElseSucceed(() => [])
      )
    const fitting = names.filter((name) => name.startsWith(current) && isWord(name))
    const all = [...new Set([...found.words, ...fitting])]
    if (all.length > 0) yield* screen.print(all.join("\n"))
  })

/** Completion scripts by shell; all of them call `berth complete`. */
export const scripts: Readonly<Record<string, string>> = {
  bash: `# berth: completion for bash
_berth() {
  local IFS=$'\\n'
  COMPREPLY=($(berth complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _berth berth`,
  zsh: `#compdef berth
# berth: completion for zsh
_berth() {
  local -a found
  found=("\${(@f)$(berth complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=(\${found:#})
  if (( $#found )); then compadd -- $found; else _files; fi
}
if [ "$funcstack[1]" = _berth ]; then _berth "$@"; else compdef _berth berth; fi`,
  fish: `# berth: completion for fish
function __berth_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l found (berth complete $words[2..-1] "$current" 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path "$current"
  end
end
complete -c berth -f -a '(__berth_complete)'`
}
