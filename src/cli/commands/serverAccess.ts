import { Effect, Option, Redacted } from "effect"
import { resolve } from "node:path"
import type { ServerCheck, ServerTest } from "../../schema/ServerTest.ts"
import { answered, common, connected } from "../common.ts"
import { exitCodes, Usage } from "../Failure.ts"
import { command } from "../parse/command.ts"
import { argument, flag, integer, text } from "../parse/described.ts"
import { storedServer } from "../storedServer.ts"
import { safeText } from "../terminal/safeText.ts"
import { Screen, type Surface } from "../terminal/Screen.ts"
import { styled } from "../terminal/style.ts"
import { prose } from "../terminal/wrapped.ts"

const passwords = "Passwords come from the environment, since other users see command lines: BERTH_SSH_PASSWORD, " +
  "BERTH_SUDO_PASSWORD, BERTH_KEY_PASSPHRASE."

/** How to get into a server. */
const access = {
  key: text("key", "A private key file.", { value: "file", names: "file" }),
  agent: flag("agent", "Log in with the keys of the SSH agent."),
  sudo: flag("sudo", "Docker and files need sudo there."),
  port: integer("port", "The SSH port; 22 unless given.", { value: "port" })
}

interface Access {
  readonly key: Option.Option<string>
  readonly agent: boolean
  readonly sudo: boolean
  readonly port: Option.Option<number>
}

/** A credential that must not stand on the command line, where other users see it. */
const fromEnvironment = (name: string) =>
  Option.getOrUndefined(Option.map(Option.fromNullable(process.env[name]), (secret) => Redacted.make(secret)))

/** The fields of a server that an address like `ann@attic.example.com:2222` and the options say. */
const serverAt = (address: string, { agent, key, port, sudo }: Access) => {
  const [, username, host, addressPort] = /^([^@\s:/]+)@(\[[^\]]+\]|[^:/\s]+)(?::(\d{1,5}))?$/.exec(address) ?? []
  if (username === undefined || host === undefined) {
    return new Usage({ message: "The address must be like deployer@main.example.com, with a user" })
  }
  const given = Option.orElse(port, () => Option.map(Option.fromNullable(addressPort), Number))
  if (Option.isSome(given) && (given.value < 1 || given.value > 65_535)) {
    return new Usage({ message: `The port must be a whole number from 1 to 65535, not ${given.value}` })
  }
  return Effect.succeed({
    username,
    host: host.replace(/^\[(.*)\]$/, "$1"),
    useSudo: sudo,
    port: Option.getOrUndefined(given),
    password: fromEnvironment("BERTH_SSH_PASSWORD"),
    sudoPassword: fromEnvironment("BERTH_SUDO_PASSWORD"),
    passphrase: fromEnvironment("BERTH_KEY_PASSPHRASE"),
    privateKey: Option.getOrUndefined(Option.map(key, (file) => resolve(file))),
    agent: agent ? true : undefined
  })
}

/** Stores a server. */
export const addServerCommand = command(
  {
    name: "add",
    summary: "Store a server to deploy to.",
    details: `${passwords} berth server test tries first whether it works, and shows the fingerprint of the host key.`,
    examples: [
      "berth server add Main deployer@main.example.com --key ~/.ssh/id_ed25519",
      "berth server add Attic ann@attic.example.com --agent --sudo"
    ]
  },
  {
    name: argument("name", "What people call it."),
    address: argument("address", "Who to log in as, and where: user@host or user@host:port."),
    hostKey: text("host-key", "The fingerprint of its host key, once compared: Berth insists on it.", {
      value: "SHA256:…"
    }),
    id: text("id", "Replace the stored server with this id.", { value: "id", names: "server" }),
    ...access,
    ...common
  },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { say } = yield* Screen
        const server = yield* serverAt(input.address, input)
        const payload = {
          ...server,
          name: input.name,
          id: Option.getOrUndefined(input.id),
          hostKey: Option.getOrUndefined(input.hostKey)
        }
        return yield* answered(
          input,
          (api) => api.saveServer({ payload }),
          ({ server }) =>
            say(`Stored ${safeText(server.name)} with the id ${server.id}. Next: berth server test ${server.id}`)
        )
      })
    )
)

const checkLines = (name: string, { detail, fix, ok }: ServerCheck, surface: Surface) => {
  const style = styled(surface)
  const sign = ok === null ? style("dim", "-") : ok ? style("green", "✓") : style("red", "✗")
  return [
    `${sign} ${name}: ${safeText(detail)}`,
    ...(fix === undefined ? [] : [`  ${style("yellow", "→")} ${safeText(fix)}`])
  ]
}

const standing = { known: "the remembered one", new: "not seen before", changed: "another one is remembered" }

const testLines = ({ docker, hostKey, logIn, sudo }: ServerTest, surface: Surface) => [
  ...(hostKey === null
    ? []
    : checkLines("host key", {
      ok: hostKey.standing === "known" ? true : hostKey.standing === "changed" ? false : null,
      detail: `${hostKey.type} ${hostKey.fingerprint}, ${standing[hostKey.standing]}`
    }, surface)),
  ...checkLines("log-in", logIn, surface),
  ...checkLines("sudo", sudo, surface),
  ...checkLines("docker", docker, surface)
]

/** Tries whether a server can be deployed to. */
export const testServerCommand = command(
  {
    name: "test",
    summary: "Try whether Berth gets into a server, stored or not, and can deploy there; change nothing.",
    details: "A server whose host key is new gets no password or key before --host-key confirms its fingerprint. " +
      `${passwords} Ends with 1 when something does not work.`,
    examples: ["berth server test main", "berth server test ann@attic.example.com --agent"]
  },
  {
    server: argument("server", "The id or the name of a stored server, or user@host or user@host:port.", "server"),
    hostKey: text("host-key", "The fingerprint of its host key, once compared.", { value: "SHA256:…" }),
    ...access,
    ...common
  },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { out, print, say } = yield* Screen
        const server = input.server.includes("@")
          ? { name: input.server, ...yield* serverAt(input.server, input) }
          : (yield* storedServer(input.server)).server
        const payload = { ...server, hostKey: Option.getOrUndefined(input.hostKey) }
        const code = yield* answered(input, (api) => api.testServer({ payload }), (test) =>
          Effect.gen(function*() {
            yield* print(prose(testLines(test, out).join("\n"), out))
            if (test.hostKey?.standing === "new" && Option.isNone(input.hostKey)) {
              yield* say(
                `Compare the fingerprint with what ssh-keygen -lf prints on the server, and go on with --host-key ` +
                  test.hostKey.fingerprint
              )
            } else yield* say(test.ready ? "Berth can deploy there." : "Berth cannot deploy there yet.")
            return test.ready ? exitCodes.done : exitCodes.failed
          }))
        return code
      })
    )
)
