import { Effect } from "effect"
import { Usage } from "../Failure.ts"
import { command, type CommandNode } from "../parse/command.ts"
import { argument } from "../parse/described.ts"
import { Screen } from "../terminal/Screen.ts"

const shells = ["bash", "zsh", "fish"]

/** The words that may follow a command: its commands, or its options. */
const wordsAfter = ({ children, options }: CommandNode): ReadonlyArray<string> =>
  children.length > 0 ? children.map(({ name }) => name) : [...options.map(({ name }) => `--${name}`), "--help"]

/** Every command by its words, with what may follow it. */
const rows = (node: CommandNode, path: ReadonlyArray<string> = []): ReadonlyArray<readonly [string, string]> => [
  [path.join(" "), wordsAfter(node).join(" ")],
  ...node.children.flatMap((child) => rows(child, [...path, child.name]))
]

const bash = (root: CommandNode) =>
  `# berth: completion for bash
_berth() {
  local path="" word index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    [[ $word == -* ]] || path="\${path:+$path }$word"
  done
  local words=""
  while :; do
    case "$path" in
${
    rows(root).map(([path, words]) => `      ${JSON.stringify(path)}) words=${JSON.stringify(words)}; break ;;`).join(
      "\n"
    )
  }
    esac
    [[ $path == *" "* ]] && path="\${path% *}" || path=""
  done
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _berth berth
`

const fish = (root: CommandNode) =>
  [
    "# berth: completion for fish",
    ...root.children.flatMap((child) => [
      `complete -c berth -n __fish_use_subcommand -a ${child.name} -d ${JSON.stringify(child.summary)}`,
      ...child.children.map(({ name, summary }) =>
        `complete -c berth -n "__fish_seen_subcommand_from ${child.name}" -a ${name} -d ${JSON.stringify(summary)}`
      ),
      ...child.options.map(({ name, words }) =>
        `complete -c berth -n "__fish_seen_subcommand_from ${child.name}" -l ${name} -d ${JSON.stringify(words)}`
      )
    ])
  ].join("\n") + "\n"

/** The script that teaches a shell the words of a command and those below it. */
export const completionOf = (shell: string, root: CommandNode): string | undefined => {
  if (shell === "bash") return bash(root)
  if (shell === "zsh") return `autoload -U +X bashcompinit && bashcompinit\n${bash(root)}`
  return shell === "fish" ? fish(root) : undefined
}

/** The command that prints the completion of all others. */
export const completionsCommand = (others: () => CommandNode): CommandNode =>
  command(
    {
      name: "completions",
      summary: "Print the completion script of a shell: bash, zsh or fish.",
      examples: [
        "berth completions bash >~/.local/share/bash-completion/completions/berth",
        "berth completions fish | source"
      ]
    },
    { shell: argument("shell", "bash, zsh or fish.") },
    ({ shell }) =>
      Effect.flatMap(Screen, ({ print }) => {
        const script = completionOf(shell, others())
        return script === undefined
          ? new Usage({
            message: `There is completion for ${shells.join(", ")}, and not for ${JSON.stringify(shell.slice(0, 40))}`
          })
          : print(script.trimEnd())
      })
  )
