import { Effect, Option, Redacted } from "effect"
import { resolve } from "node:path"
import { Berth } from "../../client/Berth.ts"
import type { BerthError } from "../../client/BerthError.ts"
import { answered, common, connected, yes } from "../common.ts"
import { confirmed } from "../confirm.ts"
import { exitCodes, Usage } from "../Failure.ts"
import { command, group } from "../parse/command.ts"
import { argument, flag, integer, optionalArgument, text } from "../parse/described.ts"
import { bytes } from "../terminal/quantities.ts"
import { safeText } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { table } from "../terminal/table.ts"

const server = argument("server", "The id of a stored server; berth server list names them.", "server")

/** What each stored server answers, those that fail too; asked at once, a few at a time. */
const ofEach = <A>(
  ids: ReadonlyArray<string>,
  ask: (id: string) => Effect.Effect<A, BerthError, Berth>
) => Effect.forEach(ids, (id) => Effect.map(Effect.either(ask(id)), (answer) => ({ id, answer })), { concurrency: 8 })

const psCommand = command(
  {
    name: "ps",
    summary: "List the running containers of all servers, or of one.",
    details:
      "With --json and without a server: what each server answers, by its id. Ends with 1 when a server cannot be " +
      "asked.",
    examples: ["berth ps", "berth ps main"]
  },
  { server: optionalArgument("server", "The id of a stored server.", "server"), ...common },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { answer, use } = yield* Berth
        const { out, print, say } = yield* Screen
        const ask = (id: string) => answer((api) => api.listContainers({ path: { id } }))
        if (Option.isSome(input.server) && input.json) {
          return yield* Effect.flatMap(ask(input.server.value), ({ body }) => print(body))
        }
        const ids = Option.isSome(input.server)
          ? [input.server.value]
          : (yield* use((api) => api.listServers({}))).map(({ id }) => id)
        const answers = yield* ofEach(ids, ask)
        if (input.json) {
          yield* print(`{${
            answers.map(({ answer, id }) =>
              `${JSON.stringify(id)}:${
                answer._tag === "Right" ? answer.right.body : JSON.stringify({ error: answer.left.message })
              }`
            ).join(",")
          }}`)
        } else {
          const rows = answers.flatMap(({ answer, id }) =>
            answer._tag === "Left"
              ? []
              : answer.right.value.containers.map(({ name, ports, status }) => [id, name, status, ports])
          )
          if (rows.length > 0) {
            yield* print(table(["SERVER", "CONTAINER", "STATUS", "PORTS"], rows, out))
          }
          if (ids.length === 0) {
            yield* say("No server is stored yet: add one with berth server add.")
          } else if (rows.length === 0) {
            yield* say("No container runs.")
          }
          for (const { answer } of answers) {
            if (answer._tag === "Left") {
              yield* say(`✗ ${safeText(answer.left.message)}`)
            }
          }
        }
        return answers.every(({ answer }) =>
            answer._tag === "Right"
          )
          ? exitCodes.done
          : exitCodes.failed
      })
    )
)

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
  psCommand,
  group({ name: "server", summary: "The stored servers: list, add, remove, scan, stats." }, [
    listCommand,
    addCommand,
    removeCommand,
    scanCommand,
    statsCommand
  ])
]
