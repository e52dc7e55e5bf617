import { Effect, Redacted } from "effect"
import { Berth } from "../../client/Berth.ts"
import { defineServiceCommand, showAnswer, yes } from "../options.ts"
import { confirm, escapeInline, exitCodes, printTable, Screen } from "../output.ts"
import { argument, defineCommandGroup, flagOption } from "../parse.ts"

const listCommand = defineServiceCommand(
  {
    name: "list",
    summary: "List the tokens that let callers in, with their roles.",
    examples: ["berth token list"]
  },
  {},
  (input) =>
    showAnswer(input, (api) => api.listTokens({}), ({ file, tokens }) =>
      Effect.gen(function*() {
        const { say } = yield* Screen
        yield* printTable(
          `${file} names no token: every program on this machine is let in. Add one with berth token add NAME.`,
          ["NAME", "ROLE", "SETTING"],
          tokens.map(({ name, role, setting }) => [name, role ?? "?", setting])
        )
        for (const { problem } of tokens) if (problem !== null) yield* say(escapeInline(problem))
      }))
)

const addCommand = defineServiceCommand(
  {
    name: "add",
    summary: "Make a token for a person, a script or an agent, and print it once.",
    details:
      "It goes into http.tokens of the settings file, and no other line of the file changes. An operator's token may " +
      "do everything but what is for the user of the service's machine, with --viewer it only reads. With the first " +
      "token every caller needs one, except commands of this user on this machine; berth open logs its browser in.",
    examples: ["berth token add ann --viewer", "berth token add ci >token"]
  },
  {
    name: argument("name", "Its name; the runs that it starts carry it."),
    viewer: flagOption("viewer", "It reads, and changes nothing."),
    yes
  },
  Effect.fnUntraced(function*(input) {
    const { print, say } = yield* Screen
    const { onAdd } = yield* (yield* Berth).use((api) => api.listTokens({}))
    if (onAdd !== null && !input.yes) {
      yield* say(escapeInline(`${onAdd}.`))
      if (!(yield* confirm("Add it?", false))) return exitCodes.failed
    }
    const payload = { name: input.name, role: input.viewer ? "viewer" : "operator" } as const
    yield* showAnswer(
      input,
      (api) => api.addToken({ payload }),
      ({ consequence, file, name, role, token }) =>
        Effect.gen(function*() {
          yield* print(Redacted.value(token))
          yield* say(escapeInline(`Added ${name} as ${role} to ${file}. Its token is shown this once.`))
          if (consequence !== null) yield* say(escapeInline(`${consequence}.`))
        })
    )
    return exitCodes.done
  })
)

const removeCommand = defineServiceCommand(
  {
    name: "remove",
    summary: "Remove a token: its holder is refused from then on, and its browser sessions end.",
    examples: ["berth token remove ann"]
  },
  { name: argument("name", "The name of a token, see berth token list."), yes },
  Effect.fnUntraced(function*(input) {
    const { say } = yield* Screen
    const { onRemove, tokens } = yield* (yield* Berth).use((api) => api.listTokens({}))
    if (tokens.some(({ name }) => name === input.name)) {
      if (onRemove !== null && !input.yes) yield* say(escapeInline(`${onRemove}.`))
      if (!(yield* confirm(`Remove the token ${escapeInline(input.name)}?`, input.yes))) return exitCodes.failed
    }
    yield* showAnswer(
      input,
      (api) => api.removeToken({ path: { name: input.name } }),
      ({ consequence, file, name }) =>
        Effect.gen(function*() {
          yield* say(escapeInline(`Removed ${name} from ${file}.`))
          if (consequence !== null) yield* say(escapeInline(`${consequence}.`))
        })
    )
    return exitCodes.done
  })
)

export const tokensCommands = [
  defineCommandGroup({ name: "token", summary: "Tokens that let callers in: list, add, remove." }, [
    listCommand,
    addCommand,
    removeCommand
  ])
]
