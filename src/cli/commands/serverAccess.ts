import { Effect, Option, Redacted } from "effect"
import { resolve } from "node:path"
import { Berth } from "../../client/Berth.ts"
import type { ServerCheck, ServerTest } from "../../schema/ServerTest.ts"
import { answered, common, connected } from "../common.ts"
import { exitCodes, Failed, Usage } from "../Failure.ts"
import { command } from "../parse/command.ts"
import { argument, flag, integer, optionalArgument, text } from "../parse/described.ts"
import { storedServer } from "../storedServer.ts"
import { safeText } from "../terminal/safeText.ts"
import { Screen, type Surface } from "../terminal/Screen.ts"
import { shellWord } from "../terminal/shellWord.ts"
import { styled } from "../terminal/style.ts"
import { prose } from "../terminal/wrapped.ts"
import { sshAddress } from "./sshAddress.ts"

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

/** The fields of a server that an address, the options and the SSH configuration say. */
const serverAt = (address: string, { agent, key, port, sudo }: Access) =>
  Effect.gen(function*() {
    const password = fromEnvironment("BERTH_SSH_PASSWORD")
    const wantsKey = Option.isNone(key) && !agent && password === undefined
    const found = yield* sshAddress(address, wantsKey)
    const given = Option.orElse(port, () => found.port)
    if (Option.isSome(given) && (given.value < 1 || given.value > 65_535)) {
      return yield* new Usage({ message: `The port must be a whole number from 1 to 65535, not ${given.value}` })
    }
    return {
      isKnown: found.isKnown,
      server: {
        username: found.username,
        host: found.host,
        useSudo: sudo,
        port: Option.getOrUndefined(given),
        password,
        sudoPassword: fromEnvironment("BERTH_SUDO_PASSWORD"),
        passphrase: fromEnvironment("BERTH_KEY_PASSPHRASE"),
        privateKey: Option.getOrUndefined(Option.map(key, (file) => resolve(file))) ?? found.privateKey ?? undefined,
        agent: agent ? true : undefined
      }
    }
  })

type Reached = Effect.Effect.Success<ReturnType<typeof serverAt>>["server"]

/** The host key that known_hosts confirms: the server is asked for its key, and gets no credential. */
const knownKey = ({ host, port, username }: Reached, name: string) =>
  Effect.gen(function*() {
    const { say } = yield* Screen
    const payload = { name, host, port, username, useSudo: false }
    const { hostKey } = yield* (yield* Berth).use((api) => api.testServer({ payload }))
    if (hostKey === null) {
      yield* say(`${safeText(host)} did not answer, so its host key was not compared with known_hosts.`)
      return undefined
    }
    if (hostKey.standing === "changed") {
      return yield* new Failed({
        message:
          `${host} shows the host key ${hostKey.fingerprint}, and known is ${hostKey.remembered ?? "another one"}: ` +
          "nothing was stored. Compare both with what the server says; if it was reinstalled, remove the old key with " +
          "ssh-keygen -R, or confirm the new one with --host-key"
      })
    }
    if (hostKey.standing === "new") return undefined
    yield* say(`Its host key ${hostKey.fingerprint} is the one that is known.`)
    return hostKey.fingerprint
  })

/** Stores a server. */
export const addServerCommand = command(
  {
    name: "add",
    summary: "Store a server to deploy to.",
    details:
      `${passwords} berth server test tries first whether it works, and shows the fingerprint of the host key. What ` +
      "~/.ssh/config says of the host is taken over, and a host key in known_hosts counts as compared.",
    examples: [
      "berth server add Main deployer@main.example.com --key ~/.ssh/id_ed25519",
      "berth server add Attic ann@attic.example.com --agent --sudo",
      "berth server add attic"
    ]
  },
  {
    name: argument("name", "What people call it."),
    address: optionalArgument(
      "address",
      "Who to log in as, and where: user@host, user@host:port, or a Host of ~/.ssh/config; the name unless given."
    ),
    hostKey: text("host-key", "The fingerprint of its host key, once compared: Berth insists on it.", {
      value: "SHA256:…"
    }),
    replacesHostKey: text("replaces-host-key", "The remembered fingerprint that --host-key takes the place of.", {
      value: "SHA256:…"
    }),
    id: text("id", "The id to store it under; a stored server with this id is replaced.", {
      value: "id",
      names: "server"
    }),
    ...access,
    ...common
  },
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { say } = yield* Screen
        const { isKnown, server } = yield* serverAt(Option.getOrElse(input.address, () => input.name), input)
        const { use } = yield* Berth
        const id = Option.getOrUndefined(input.id)
        const isStored = id !== undefined &&
          (yield* use((api) => api.listServers({}))).some((stored) => stored.id === id)
        const payload = {
          ...server,
          name: input.name,
          ...(isStored ? { id } : { newId: id }),
          uniqueName: true,
          hostKey: Option.getOrUndefined(input.hostKey) ??
            (isKnown ? yield* knownKey(server, input.name) : undefined),
          replacesHostKey: Option.getOrUndefined(input.replacesHostKey)
        }
        return yield* answered(
          input,
          (api) => api.saveServer({ payload }),
          ({ server }) =>
            say(
              `${isStored ? "Replaced" : "Stored"} ${safeText(server.name)} with the id ${safeText(server.id)}. ` +
                `Next: berth server test ${shellWord(server.name)}`
            )
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
        const inline = Effect.map(serverAt(input.server, input), ({ server }) => ({ name: input.server, ...server }))
        const server = input.server.includes("@")
          ? yield* inline
          : yield* storedServer(input.server).pipe(
            Effect.map(({ server }) => server),
            Effect.catchIf(
              (error) => error instanceof Failed,
              (missing) => Effect.catchIf(inline, (error) => error instanceof Usage, () => Effect.fail(missing))
            )
          )
        const payload = { ...server, hostKey: Option.getOrUndefined(input.hostKey) }
        const code = yield* answered(input, (api) => api.testServer({ payload }), (test) =>
          Effect.gen(function*() {
            yield* print(prose(testLines(test, out).join("\n"), out))
            if (test.hostKey?.standing === "new" && Option.isNone(input.hostKey)) {
              yield* say(
                `Compare the fingerprint with what ssh-keygen -lf prints on the server of the key's file in /etc/ssh ` +
                  `(ssh_host_*_key.pub), and go on with --host-key ` +
                  test.hostKey.fingerprint
              )
            } else yield* say(test.ready ? "Berth can deploy there." : "Berth cannot deploy there yet.")
            return test.ready ? exitCodes.done : exitCodes.failed
          }))
        return code
      })
    )
)
