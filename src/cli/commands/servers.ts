import { Effect, Option, Redacted } from "effect"
import { resolve } from "node:path"
import { answered, common, connected, yes } from "../common.ts"
import { confirmed } from "../confirm.ts"
import { exitCodes, Usage } from "../Failure.ts"
import { command, group } from "../parse/command.ts"
import { argument, flag, integer, text } from "../parse/described.ts"
import { bytes } from "../terminal/quantities.ts"
import { safeText } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { table } from "../terminal/table.ts"

const server = argument("server", "The id of a stored server; berth server list names them.", "server")

const listCommand = command(
  { name: "list", summary: "List the stored servers.", examples: ["berth server list"] },
  common,
  (input) =>
    connected(
      input,
      Effect.flatMap(Screen, ({ out, print, say }) =>
        answered(input, (api) =>
          api.listServers({}), (servers) =>
          servers.length === 0
            ? say("No server is stored yet: add one with berth server add.")
            : print(table(
              ["ID", "NAME", "HOST", "PORT", "USER", "SUDO"],
              servers.map((
                { host, id, name, port, useSudo, username }
              ) => [id, name, host, String(port), username, useSudo ? "yes" : "no"]),
              out
            ))))
    )
)

/** A credential that must not stand on the command line, where other users see it. */
const fromEnvironment = (name: string) =>
  Option.map(Option.fromNullable(process.env[name]), (secret) => Redacted.make(secret))

const addCommand = command(
  {
    name: "add",
    summary: "Store a server to deploy to.",
    details: "Passwords come from the environment, since other users see command lines: BERTH_SSH_PASSWORD, " +
      "BERTH_SUDO_PASSWORD, BERTH_KEY_PASSPHRASE.",
    examples: [
      "berth server add Main deployer@main.example.com --key ~/.ssh/id_ed25519",
      "berth server add Attic " +
      "ann@attic.example.com --agent --sudo"
    ]
  },
  {
    name: argument("name", "What people call it."),
    address: argument("address", "Who to log in as, and where: user@host or user@host:port."),
    id: text("id", "Replace the stored server with this id.", { value: "id", names: "server" }),
    key: text("key", "A private key file.", { value: "file" }),
    agent: flag("agent", "Log in with the keys of the SSH agent."),
    sudo: flag("sudo", "Docker and files need sudo there."),
    port: integer("port", "The SSH port; 22 unless given.", { value: "port" }),
    ...common
  },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { say } = yield* Screen
        const [, username, host, port] = /^([^@\s]+)@(\[[^\]]+\]|[^:\s]+)(?::(\d{1,5}))?$/.exec(input.address) ?? []
        if (username === undefined || host === undefined) {
          return yield* new Usage({ message: "The address must be like deployer@main.example.com, with a user" })
        }
        const given = Option.orElse(input.port, () => Option.map(Option.fromNullable(port), Number))
        const optional = {
          id: input.id,
          port: given,
          password: fromEnvironment("BERTH_SSH_PASSWORD"),
          sudoPassword: fromEnvironment("BERTH_SUDO_PASSWORD"),
          passphrase: fromEnvironment("BERTH_KEY_PASSPHRASE"),
          privateKey: Option.map(input.key, (file) => resolve(file)),
          agent: input.agent ? Option.some(true) : Option.none()
        }
        return yield* answered(
          input,
          (api) =>
            api.saveServer({
              payload: {
                name: input.name,
                username,
                host: host.replace(/^\[(.*)\]$/, "$1"),
                useSudo: input.sudo,
                id: Option.getOrUndefined(optional.id),
                port: Option.getOrUndefined(optional.port),
                password: Option.getOrUndefined(optional.password),
                sudoPassword: Option.getOrUndefined(optional.sudoPassword),
                passphrase: Option.getOrUndefined(optional.passphrase),
                privateKey: Option.getOrUndefined(optional.privateKey),
                agent: Option.getOrUndefined(optional.agent)
              }
            }),
          ({ server }) => say(`Stored ${safeText(server.name)} with the id ${server.id}. Next: berth ps ${server.id}`)
        )
      })
    )
)

const removeCommand = command(
  {
    name: "remove",
    summary: "Forget a stored server; nothing on it changes.",
    examples: ["berth server remove attic --yes"]
  },
  { server, yes, ...common },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { say } = yield* Screen
        const question = `Forget the server ${safeText(input.server)} and its stored credentials?`
        if (!(yield* confirmed(question, input.yes))) return exitCodes.failed
        return yield* answered(input, (api) =>
          api.removeServer({ path: { id: input.server } }), () =>
          say(`Forgot ${safeText(input.server)}.`))
      })
    )
)

const scanCommand = command(
  { name: "scan", summary: "List what is deployed on a server.", examples: ["berth server scan main"] },
  { server, ...common },
  (input) =>
    connected(
      input,
      Effect.flatMap(Screen, ({ out, print, say }) =>
        answered(input, (api) =>
          api.scanServer({ path: { id: input.server } }), ({ deployed }) =>
          deployed.length === 0
            ? say("Nothing is deployed under ~/containers.")
            : print(table(
              ["NAME", "PATH", "COMPOSE", "ENV", "DATA", "ARCHIVE"],
              deployed.map(({ hasComposeFile, hasData, hasEnv, name, remotePath, tarFile }) => [
                name,
                remotePath,
                ...[hasComposeFile, hasEnv, hasData].map((has) => (has ? "yes" : "no")),
                tarFile ?? ""
              ]),
              out
            ))))
    )
)

const statsCommand = command(
  { name: "stats", summary: "Show what the containers of a server use.", examples: ["berth server stats main"] },
  { server, ...common },
  (input) =>
    connected(
      input,
      Effect.flatMap(Screen, ({ out, print, say }) =>
        answered(input, (api) =>
          api.serverStats({ path: { id: input.server } }), ({ containers }) =>
          containers.length === 0
            ? say("No container runs.")
            : print(table(
              ["CONTAINER", "SERVICE", "CPU", "MEMORY", "NETWORK", "RESTARTS"],
              containers.map(({ cpuPercent, memoryBytes, memoryLimitBytes, name, networkBytes, restarts, service }) => [
                name,
                service,
                `${cpuPercent.toFixed(1)}%`,
                `${bytes(memoryBytes)} of ${bytes(memoryLimitBytes)}`,
                bytes(networkBytes),
                String(restarts)
              ]),
              out
            ))))
    )
)

export const serversCommands = [
  group({ name: "server", summary: "The stored servers: list, add, remove, scan, stats." }, [
    listCommand,
    addCommand,
    removeCommand,
    scanCommand,
    statsCommand
  ])
]
