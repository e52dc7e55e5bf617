import { Effect } from "effect"
import { showAnswer } from "../connection/withService.ts"
import { defineServiceCommand } from "../options/defineServiceCommand.ts"
import { defineCommandGroup } from "../parse/command.ts"
import { argument } from "../parse/parameters.ts"
import { printTable } from "../terminal/printTable.ts"
import { escapeInline } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"

const listCommand = defineServiceCommand(
  {
    name: "list",
    summary: "List the targets of notifications, and what keeps each from being told.",
    examples: ["berth notify list"]
  },
  {},
  (input) =>
    showAnswer(input, (api) => api.listSettings({}), ({ file, notify }) =>
      Effect.gen(function*() {
        const { say } = yield* Screen
        yield* printTable(
          `${file} names no targets: add a list notify.`,
          ["NAME", "FORMAT", "EVENTS"],
          notify.map(({ events, format, name }) => [name, format, events.join(", ")])
        )
        for (const { problem } of notify) if (problem !== null) yield* say(escapeInline(problem))
      }))
)

const testCommand = defineServiceCommand(
  {
    name: "test",
    summary: "Send a test to one target, and say whether its receiver took it.",
    examples: ["berth notify test team"]
  },
  { name: argument("name", "The name of a target of the setting notify.") },
  (input) =>
    showAnswer(
      input,
      (api) => api.testNotify({ path: { name: input.name } }),
      ({ milliseconds, name, status }) =>
        Effect.flatMap(
          Screen,
          ({ say }) => say(escapeInline(`${name} was told: its receiver answered ${status} after ${milliseconds} ms.`))
        )
    )
)

export const notifyCommands = [
  defineCommandGroup({ name: "notify", summary: "Notifications about the end of runs: list, test." }, [
    listCommand,
    testCommand
  ])
]
