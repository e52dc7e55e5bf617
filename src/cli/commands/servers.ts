import { Effect } from "effect"
import { answered, common, connected, yes } from "../common.ts"
import { confirmed } from "../confirm.ts"
import { exitCodes } from "../Failure.ts"
import { command, group } from "../parse/command.ts"
import { argument } from "../parse/described.ts"
import { storedServer } from "../storedServer.ts"
import { listed } from "../terminal/listed.ts"
import { bytes } from "../terminal/quantities.ts"
import { safeText } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { addServerCommand, testServerCommand } from "./serverAccess.ts"

const server = argument("server", "The id or the name of a stored server; berth server list names them.", "server")

const listCommand = command(
  { name: "list", summary: "List the stored servers.", examples: ["berth server list"] },
  common,
  (input) =>
    connected(
      input,
      answered(input, (api) => api.listServers({}), (servers) =>
        listed(
          "No server is stored yet: add one with berth server add.",
          ["ID", "NAME", "HOST", "PORT", "USER", "SUDO"],
          servers.map((
            { host, id, name, port, useSudo, username }
          ) => [id, name, host, String(port), username, useSudo ? "yes" : "no"])
        ))
    )
)

const removeCommand = command(
  {
    name: "remove",
    summary: "Forget a stored server; nothing on it changes.",
    examples: ["berth server remove attic --yes"]
  },
  {
    server,
    yes,
    ...common
  },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { say } = yield* Screen
        const { callName, server: { id, name } } = yield* storedServer(input.server)
        const which = callName === name ? name : `${name} (${id})`
        const question = `Forget the server ${safeText(which)} and its stored credentials?`
        if (!(yield* confirmed(question, input.yes))) return exitCodes.failed
        return yield* answered(input, (api) =>
          api.removeServer({ path: { id } }), () =>
          say(`Forgot the server ${safeText(name)}.`))
      })
    )
)

const scanCommand = command(
  { name: "scan", summary: "List what is deployed on a server.", examples: ["berth server scan main"] },
  { server, ...common },
  (input) =>
    connected(
      input,
      Effect.flatMap(storedServer(input.server), ({ server: { id } }) =>
        answered(input, (api) =>
          api.scanServer({ path: { id } }), ({ deployed }) =>
          listed(
            "Nothing is deployed under ~/containers.",
            ["NAME", "PATH", "COMPOSE", "ENV", "DATA", "ARCHIVE"],
            deployed.map(({ hasComposeFile, hasData, hasEnv, name, remotePath, tarFile }) => [
              name,
              remotePath,
              ...[hasComposeFile, hasEnv, hasData].map((has) => (has ? "yes" : "no")),
              tarFile ?? ""
            ])
          )))
    )
)

const statsCommand = command(
  { name: "stats", summary: "Show what the containers of a server use.", examples: ["berth server stats main"] },
  { server, ...common },
  (input) =>
    connected(
      input,
      Effect.flatMap(storedServer(input.server), ({ server: { id } }) =>
        answered(input, (api) =>
          api.serverStats({ path: { id } }), ({ containers }) =>
          listed(
            "No container runs.",
            ["CONTAINER", "SERVICE", "CPU", "MEMORY", "NETWORK", "RESTARTS"],
            containers.map(({ cpuPercent, memoryBytes, memoryLimitBytes, name, networkBytes, restarts, service }) => [
              name,
              service,
              `${cpuPercent.toFixed(1)}%`,
              `${bytes(memoryBytes)} of ${bytes(memoryLimitBytes)}`,
              bytes(networkBytes),
              String(restarts)
            ])
          )))
    )
)

export const serversCommands = [
  group({ name: "server", summary: "The stored servers: list, add, test, remove, scan, stats." }, [
    listCommand,
    addServerCommand,
    testServerCommand,
    removeCommand,
    scanCommand,
    statsCommand
  ])
]
