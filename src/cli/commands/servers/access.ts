import { Effect, Option, Redacted } from "effect"
import { resolve } from "node:path"
import { normalizeJumpList } from "../../../schema/servers/jumpHosts.ts"
import type { Input } from "../../parse/command.ts"
import { flagOption, integerOption, textOption } from "../../parse/parameters.ts"
import { Usage } from "../../terminal/commandErrors.ts"
import { resolveSshAddress } from "./resolveSshAddress.ts"

/** Part of the help of commands that log in. */
export const passwords =
  "Passwords come from the environment, since other users see command lines: BERTH_SSH_PASSWORD, " +
  "BERTH_SUDO_PASSWORD, BERTH_KEY_PASSPHRASE."

/** SSH log-in options. */
export const access = {
  key: textOption("key", "A private key file.", { value: "file", names: "file" }),
  agent: flagOption("agent", "Log in with the keys of the SSH agent."),
  sudo: flagOption("sudo", "Docker and files need sudo there."),
  jump: textOption("jump", "The jump hosts to connect through, as ssh -J takes them; none with an empty text.", {
    value: "[user@]host[:port]"
  }),
  port: integerOption("port", "The SSH port; 22 unless given.", { value: "port" })
}

export type AccessOptions = Input<typeof access>

/** Reads a credential from the environment: other users see command lines. */
const fromEnvironment = (name: string) =>
  Option.getOrUndefined(Option.map(Option.fromNullable(process.env[name]), (secret) => Redacted.make(secret)))

const secrets = () => ({
  password: fromEnvironment("BERTH_SSH_PASSWORD"),
  sudoPassword: fromEnvironment("BERTH_SUDO_PASSWORD"),
  passphrase: fromEnvironment("BERTH_KEY_PASSPHRASE")
})

/**
 * Fields of a stored server that the options override, with the passwords from the environment; none without options.
 */
export const buildServerOverrides = ({ agent, jump, key, port, sudo }: AccessOptions) => {
  const given = {
    ...(agent ? { agent } : {}),
    ...(sudo ? { useSudo: true } : {}),
    ...(Option.isSome(jump) ? { jump: normalizeJumpList(jump.value) } : {}),
    ...(Option.isSome(key) ? { privateKey: resolve(key.value) } : {}),
    ...(Option.isSome(port) ? { port: port.value } : {})
  }
  return Object.keys(given).length === 0 ? Option.none() : Option.some({ ...secrets(), ...given })
}

/** Builds the fields of a server from an address, the options and the SSH configuration. */
export const buildServerInput = (address: string, { agent, jump, key, port, sudo }: AccessOptions) =>
  Effect.gen(function*() {
    const environment = secrets()
    const wantsKey = Option.isNone(key) && !agent && environment.password === undefined
    const found = yield* resolveSshAddress(address, wantsKey, Option.isNone(jump))
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
        jump: Option.getOrElse(Option.map(jump, normalizeJumpList), () => found.jump ?? undefined),
        ...environment,
        privateKey: Option.getOrUndefined(Option.map(key, (file) => resolve(file))) ?? found.privateKey ?? undefined,
        agent: agent ? true : undefined
      }
    }
  })
