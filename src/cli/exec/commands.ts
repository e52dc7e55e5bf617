import { Effect, Option } from "effect"
import { withService } from "../connection/withService.ts"
import { common } from "../options/common.ts"
import { locateNamedStack, locationOptions } from "../options/projects.ts"
import { defineLocalCommand, type Input } from "../parse/command.ts"
import { optionalArgument, trailingArguments } from "../parse/parameters.ts"
import { runExec } from "./runExec.ts"

const parts = {
  project: optionalArgument("project", "Its name under the projects root, or its path.", "project"),
  service: optionalArgument("service", "A service of its stack; may be left out where there is only one."),
  ...locationOptions,
  url: common.url,
  config: common.config
}

/** Runs a command in the container of a project's service; defaults to a shell. */
const execIn = (input: Input<typeof parts>, words?: ReadonlyArray<string>) =>
  withService(
    input,
    Effect.gen(function*() {
      const { remotePath, serverId } = yield* locateNamedStack(input.project, input)
      return yield* runExec(serverId, {
        remotePath,
        ...Option.match(input.service, { onNone: () => ({}), onSome: (service) => ({ service }) }),
        ...(words === undefined ? {} : { command: words })
      })
    })
  )

const execCommand = defineLocalCommand(
  {
    name: "exec",
    summary: "Run a command in a container of a project.",
    details:
      "On a terminal the command has one, too. Otherwise every byte of stdin, stdout and stderr is passed on as it " +
      "is. Its exit code becomes that of berth. The history tells who ran it, not what it printed.",
    examples: [
      "berth exec hello -- ls -l",
      "berth exec shop db -- pg_dump -U shop shop > shop.sql",
      "berth exec shop db -- psql -U shop < shop.sql"
    ]
  },
  { ...parts, command: trailingArguments("command", "The program and its arguments, which no shell reads.") },
  (input) => execIn(input, input.command)
)

const consoleCommand = defineLocalCommand(
  {
    name: "console",
    summary: "Open a shell in a container of a project.",
    details: "bash where the container has it, else sh.",
    examples: ["berth console hello", "berth console shop db"]
  },
  parts,
  (input) => execIn(input)
)

export const execCommands = [execCommand, consoleCommand]
