import { Effect } from "effect"
import { showAnswer } from "../../connection/withService.ts"
import { yes } from "../../options/common.ts"
import { defineServiceCommand } from "../../options/defineServiceCommand.ts"
import { findStoredServer } from "../../options/findStoredServer.ts"
import { defineCommandGroup } from "../../parse/command.ts"
import { argument } from "../../parse/parameters.ts"
import { confirm } from "../../terminal/confirm.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { printTable } from "../../terminal/printTable.ts"
import { escapeInline } from "../../terminal/safeText.ts"
import { Screen } from "../../terminal/Screen.ts"
import { addServerCommand } from "./addServer.ts"
import { serverStatsCommand } from "./serverStats.ts"
import { testServerCommand } from "./testServer.ts"

const server = argument("server", "The id or the name of a stored server; berth server list names them.", "server")

const listCommand = defineServiceCommand(
  { name: "list", summary: "List the stored servers.", examples: ["berth server list"] },
  {},
  (input) =>
    showAnswer(input, (api) => api.listServers({}), (servers) => {
      const through = servers.some(({ jump }) => jump !== undefined)
      return printTable(
        "No server is stored yet: add one with berth server add.",
        ["ID", "NAME", "HOST", "PORT", "USER", "SUDO", ...(through ? ["THROUGH"] : [])],
        servers.map(({ host, id, jump = "", name, port, useSudo, username }) => [
          id,
          name,
          host,
          String(port),
          username,
          useSudo ? "yes" : "no",
          ...(through ? [jump] : [])
        ])
      )
    })
)

const removeCommand = defineServiceCommand(
  {
    name: "remove",
    summary: "Forget a stored server; nothing on it changes.",
    examples: ["berth server remove attic --yes"]
  },
  { server, yes },
  Effect.fnUntraced(function*(input) {
    const { say } = yield* Screen
    const { callName, server: { id, name } } = yield* findStoredServer(input.server)
    const which = callName === name ? name : `${name} (${id})`
    const question = `Forget the server ${escapeInline(which)} and its stored credentials?`
    if (!(yield* confirm(question, input.yes))) return exitCodes.failed
    return yield* showAnswer(
      input,
      (api) => api.removeServer({ path: { id } }),
      () => say(`Forgot the server ${escapeInline(name)}.`)
    )
  })
)

const scanCommand = defineServiceCommand(
  { name: "scan", summary: "List what is deployed on a server.", examples: ["berth server scan main"] },
  { server },
  (input) =>
    Effect.flatMap(
      findStoredServer(input.server),
      ({ server: { id } }) =>
        showAnswer(input, (api) => api.scanServer({ path: { id } }), ({ deployed }) =>
          printTable(
            "Nothing is deployed under ~/containers.",
            ["NAME", "PATH", "COMPOSE", "ENV", "DATA", "ARCHIVE"],
            deployed.map(({ hasComposeFile, hasData, hasEnv, name, remotePath, tarFile }) => [
              name,
              remotePath,
              ...[hasComposeFile, hasEnv, hasData].map((has) => (has ? "yes" : "no")),
              tarFile ?? ""
            ])
          ))
    )
)

export const serversCommands = [
  defineCommandGroup({ name: "server", summary: "The stored servers: list, add, test, remove, scan, stats." }, [
    listCommand,
    addServerCommand,
    testServerCommand,
    removeCommand,
    scanCommand,
    serverStatsCommand
  ])
]
