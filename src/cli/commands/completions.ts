import { Effect } from "effect"
import { quoteInput } from "../../schema/words/quoted.ts"
import { scripts } from "../completion/scripts.ts"
import { defineLocalCommand } from "../parse/command.ts"
import { argument } from "../parse/parameters.ts"
import { Usage } from "../terminal/commandErrors.ts"
import { Screen } from "../terminal/Screen.ts"

const shells = Object.keys(scripts)

/** Prints a shell's completion script. */
export const completionsCommand = defineLocalCommand(
  {
    name: "completions",
    summary: "Print the completion script of a shell: bash, zsh or fish.",
    details:
      "It completes commands, options, and the names of projects, servers, applications, releases, routes and runs.",
    examples: [
      "berth completions bash >~/.local/share/bash-completion/completions/berth",
      "berth completions zsh >~/.zfunc/_berth",
      "berth completions fish >~/.config/fish/completions/berth.fish"
    ]
  },
  { shell: argument("shell", "bash, zsh or fish.", { choices: shells }) },
  ({ shell }) =>
    Effect.flatMap(Screen, ({ print }) => {
      const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
      return script === undefined
        ? new Usage({ message: `There is completion for ${shells.join(", ")}, and not for ${quoteInput(shell)}` })
        : print(script)
    })
)
